import { describe, expect, test } from 'vitest';
import { readClause } from './read-clause.fixture.ts';

// Invented passages in the ways of writing that filings, procurement forms, licences and leases use.
describe('late payment rate, further passages', () => {
  test.each([
    ['Any amount not paid when due will bear interest from the due date at 1 and 1/2% per month.', '1.5 percent/month'],
    [
      'Customer shall pay interest on such overdue amounts at a rate equal to the lesser of (i) 12% per annum and (ii) the maximum rate allowed by law.',
      '12 percent/year',
    ],
    [
      'Interest will accrue on any past due amount at the prime rate as published in the Wall Street Journal plus 3%.',
      'formula',
    ],
    [
      'Late payments will be subject to a late payment fee calculated at the rate of one and one half percent (1-1/2%) per month.',
      '1.5 percent/month',
    ],
    [
      'Licensee shall pay a late payment charge equal to the lesser of one and one-half percent (1.5%) per month or the legal maximum.',
      '1.5 percent/month',
    ],
    [
      'If any payment is not paid within ten days of when due, Borrower shall pay a late charge equal to 5% of the amount of such payment.',
      '5 percent',
    ],
    [
      'After the occurrence of an Event of Default, all Loans shall bear interest at a rate per annum equal to 2% plus the rate otherwise applicable.',
      'formula',
    ],
    [
      'Payments due and unpaid under the Contract shall bear interest from the date payment is due at the rate stated below, or in the absence thereof, at the legal rate prevailing.',
      'reference',
    ],
    ['Amounts outstanding more than 30 days shall be charged 1.5% monthly.', '1.5 percent/month'],
    ['A service charge of 1 1/2% per month (18% per annum) will be added to delinquent accounts.', '1.5 percent/month'],
    ['Any late payment shall be assessed a penalty of ten percent (10%) of the amount due.', '10 percent'],
    ['Licensor reserves the right to charge a late fee of 2% per month on unpaid invoices.', '2 percent/month'],
    ['Overdue payments shall accrue interest at eighteen percent annually.', '18 percent/year'],
    [
      'Interest on unpaid amounts shall run at the rate of eight percent (8%) per annum from the date due.',
      '8 percent/year',
    ],
    ['The Note bears interest at 9% per annum until maturity.', 'absent'],
    ['The Company has 10% interest in the venture, and unpaid invoices are charged to the venture.', 'absent'],
    ['Borrower shall pay a commitment fee of 0.5% per annum on the unused amount, payable in arrears.', 'absent'],
    ['如果甲方逾期付款，超过10日后，每日应向乙方偿付应付款项的0.5%作为违约金；', '0.5 percent/day'],
    ['若甲方未能履行付款义务，每逾期一日，乙方有权要求甲方承担逾期付款金额的0.05%作为违约金。', '0.05 percent/day'],
    ['甲方逾期支付款项的，应按逾期金额每日【  ‰】的标准向乙方支付违约金。', 'blank'],
    ['采购人逾期支付资金的，应当按照合同签订时一年期贷款市场报价利率（LPR）支付逾期利息。', 'formula'],
    ['发包人逾期支付进度款的，按照中国人民银行发布的同期同类贷款基准利率的两倍支付违约金。', 'formula'],
    ['被许可方如未按时支付许可费，应就迟延支付部分按每月1.5%的利率支付利息。', '1.5 percent/month'],
    ['买方延迟付款的，每延迟一周，按延迟付款金额的0.5%支付违约金，违约金总额不超过合同总价的5%。', '0.5 percent/week'],
    ['承租人逾期交纳租金的，每逾期一日，按欠付租金的千分之三支付违约金。', '0.3 percent/day'],
    ['乙方逾期交货或者甲方逾期付款的，每逾期一日，违约方应向守约方支付合同总价0.3‰的违约金。', '0.03 percent/day'],
    ['甲方应按期付款，否则按日加收未付款项万分之五的滞纳金。', '0.05 percent/day'],
    ['任何一方迟延履行合同义务，每迟延一日应支付合同金额万分之二的违约金。', '0.02 percent/day'],
    ['若逾期支付超过十五日，甲方除应付清全部款项外，还应支付应付款项百分之十的违约金。', '10 percent'],
    ['供应商未按合同约定交付货物的，每逾期一日，应支付合同总价款千分之三的违约金。', 'absent'],
    ['乙方逾期竣工的，每逾期一日应支付工程款的万分之五作为违约金。', 'absent'],
    ['投资收益率为年化8%，未付部分计入下期。', 'absent'],
    ['本合同约定的增值税税率为6%，甲方未付款前乙方不开票。', 'absent'],
    ['承租人逾期支付租金的，每逾期一日按当月租金的0.5%向出租人支付违约金。', '0.5 percent/day'],
    ['乙方未按期支付费用的，每逾期一日按应付款项万分之五加收滞纳金，宽限期10天。', '0.05 percent/day'],
    ['乙方逾期交付房屋租金的，每逾期一日应向甲方支付应付租金千分之一的滞纳金。', '0.1 percent/day'],
    ['供应商逾期交货的，每逾期一日按未交付部分货款的0.05%支付违约金。', 'absent'],
    ['乙方逾期支付任何一期款项的，每逾期一日应按未付金额的1%向甲方支付违约金。', '1 percent/day'],
    ['延迟交货按合同金额的0.1%/日计算违约金。', 'absent'],
    ['一方逾期不配合办理的,每逾期一日,按转让价款总额的 15 ‰支付违约金。', 'absent'],
    ['支付节奏:每自然月 5 日前预付当月月费;逾期支付的,每逾期一日按当月月费的 0.05% 计违约金。', '0.05 percent/day'],
    ['买受人未在本合同第三条约定的付款期限内支付价款的，按日计付应付价款万分之一的违约金。', '0.01 percent/day'],
    ['Sums not paid when due shall bear interest at 4% per annum above the reference rate, accruing daily.', 'formula'],
    ['Amounts not paid when due shall bear interest at the statutory rate for commercial transactions.', 'reference'],
    [
      'Late payments shall bear interest at two percent (2%) per month (twenty-four percent (24%) per annum), compounded monthly.',
      '2 percent/month',
    ],
    [
      'Amounts not paid when due shall bear interest at the rate of one\n   and one-half percent (1.5%) per month, or the maximum legal rate if\n less.',
      '1.5 percent/month',
    ],
    [
      'If Party A delays the payment, Party A shall pay Party B a penalty of 0.05% of the overdue amount per day.',
      '0.05 percent/day',
    ],
    [
      'Where Party A fails to pay on time, it shall pay liquidated damages equal to 0.5‰ of the unpaid amount for each day overdue.',
      '0.05 percent/day',
    ],
    [
      'If Party B fails to complete the works on time, it shall pay a penalty of 0.1% of the contract price per day.',
      'absent',
    ],
    [
      '"Default Rate" means a per annum rate equal to the lesser of (a) 18% or (b) the maximum lawful rate.',
      '18 percent/year',
    ],
    ['"Default Interest Rate" shall mean three percent (3%) in excess of the Contract Rate.', 'formula'],
    ['Upon the occurrence of an Event of Default, the interest rate shall increase by two percent (2%).', 'formula'],
    ['A late charge equal to four percent (4%) of such delinquent payment shall be due.', '4 percent'],
    ['All late invoices shall bear interest of 12% APR.', '12 percent/year'],
    ['Overdue invoices carry 10% annual interest.', '10 percent/year'],
    ['If payment is delayed beyond thirty days, interest at 1% for each month of delay is payable.', '1 percent/month'],
    ['All past due principal and interest shall bear interest at the Maximum Rate.', 'reference'],
    [
      'The Contractor shall be entitled to interest at 6% per annum on sums which the Employer has not paid by the final date for payment.',
      '6 percent/year',
    ],
    [
      'Purchaser shall pay interest on late payments at a rate of 5 percentage points above the base rate of the European Central Bank.',
      'formula',
    ],
    ['Monthly payments of interest only at 7% per annum; a default under the Note is a default hereunder.', 'absent'],
    ['Borrower shall pay interest at the Prime Rate plus 1%, and failure to pay is an Event of Default.', 'formula'],
  ])('%s', (text, expected) => {
    expect(readClause('late_payment_rate', text)).toBe(expected);
  });
});
