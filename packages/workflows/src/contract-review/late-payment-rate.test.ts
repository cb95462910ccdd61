import { describe, expect, test } from 'vitest';
import { readClause } from './read-clause.fixture.ts';

const read = (text: string) => readClause('late_payment_rate', text);

describe('late-payment rate, English', () => {
  test.each([
    [
      'Overdue amounts shall incur interest at the lesser of 1 1/2% per month or the highest lawful rate.',
      '1.5 percent/month',
    ],
    [
      'Any sums not paid when due shall accrue interest at the rate of eighteen percent (18%) per annum.',
      '18 percent/year',
    ],
    ['Late payments shall bear interest at one and one-half percent (1.5%) per month.', '1.5 percent/month'],
    ['A late charge of five percent (5%) of the overdue amount will be added.', '5 percent'],
    ['If Customer fails to pay an invoice when due, Supplier may charge interest of 1% per month.', '1 percent/month'],
    ['A finance charge of 1.5% per month will be assessed on all past due balances.', '1.5 percent/month'],
    ['Unpaid invoices carry interest at an annual rate of 12%.', '12 percent/year'],
    ['Late payments bear interest at the prime rate plus two percent (2%) per annum.', 'formula'],
    ['Payments received after the due date are subject to interest at LIBOR.', 'formula'],
    [
      'Any amount not paid when due shall bear interest at the Default Rate described in the Loan Agreement.',
      'reference',
    ],
    ['Late payments may be subject to interest at an annual rate of [**] percent.', 'blank'],
    ['A late fee of $50 applies to each invoice that is not paid within ten days.', '50 USD amount'],
    ['After maturity, the overdue principal shall bear interest at four percent (4%) above the base rate.', 'formula'],
    ['Interest shall be charged at 0.05% per day on any delinquent payment.', '0.05 percent/day'],
    [
      'Undisputed amounts that remain unpaid after the due date accrue interest at ten percent per year.',
      '10 percent/year',
    ],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ['The outstanding principal balance shall bear interest at the rate of 8% per annum.'],
    ['If completion is delayed, Contractor shall pay liquidated damages of $2,000 for each day of delay.'],
    ['Executive shall repay the Excess Payment with interest at the Applicable Federal Rate.'],
    ['Loans past due 90 days or more and still accruing interest are nonperforming at 5.00%.'],
    ['Borrower shall pay an unused fee of 0.70% per annum.'],
    ['Supplier holds a security interest of 100% in goods that are not paid for.'],
    [
      'If any excess interest is contracted for, it shall be reduced to the Maximum Rate, and no one is liable for unpaid excess interest.',
    ],
    ['A discount of 2% is granted for payment within ten days; late payments lose it.'],
    ['Time is of the essence with respect to all late payments.'],
    ['Payments delayed under Section 409A shall accrue interest at the prime rate after separation from service.'],
    ['If Licensee underpaid by more than five percent (5%), it shall pay the costs of the audit.'],
    ['Supplier may suspend the Services if an invoice is overdue.'],
  ])('not: %s', (text) => {
    expect(read(text)).toBe('absent');
  });
});

describe('late-payment rate, Chinese', () => {
  test.each([
    ['甲方逾期付款的，每逾期一日，应按逾期金额的万分之五向乙方支付违约金。', '0.05 percent/day'],
    ['买方未按期付款的，每日按未付款项的0.05%支付滞纳金。', '0.05 percent/day'],
    ['逾期支付的，应按日千分之一支付违约金。', '0.1 percent/day'],
    ['甲方迟延付款的，每延迟一日按应付金额的３‰向乙方支付违约金。', '0.3 percent/day'],
    ['拖欠货款的，按年利率12%支付逾期利息。', '12 percent/year'],
    ['逾期付款的，按同期贷款市场报价利率（LPR）的1.5倍支付利息。', 'formula'],
    ['甲方未在约定期限内支付费用的，应支付合同总额5%的违约金。', '5 percent'],
    ['任何一方逾期履行义务的，每逾期一日应向对方支付合同总价万分之三的违约金。', '0.03 percent/day'],
    ['借款逾期的，自逾期之日起按日利率0.05%计收罚息。', '0.05 percent/day'],
    ['采购人逾期付款，每逾期1天，按逾期金额的百分之零点一支付违约金，但累计不超过合同价的5%。', '0.1 percent/day'],
    ['被许可方未按照合同约定支付许可费的，每逾期一个月按应付款项的2%支付违约金。', '2 percent/month'],
    ['甲方逾期付款的，每日支付违约金人民币500元。', '500 CNY amount/day'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ['乙方逾期交货的，每逾期一日，应按合同总价的千分之二支付违约金。'],
    ['贷款年利率为6%，按月付息。'],
    ['甲方逾期付款的，乙方有权暂停供货。'],
    ['乙方未能按期完工的，每延误一天支付违约金2000元。'],
    ['一方违约的，应向守约方支付合同总额10%的违约金。'],
    ['合同含13%增值税，价款分期支付。'],
    ['存款利息按年利率1.5%计算。'],
    ['乙方提供的货物不合格的，应支付货款20%的违约金。'],
    ['甲方提前付款的，享受2%的折扣。'],
    ['逾期未提出异议的，视为验收合格。'],
    ['乙方迟延交付软件的，按许可费的0.1%每日支付违约金。'],
    ['违约金不足以弥补损失的，违约方应当补足。'],
  ])('not: %s', (text) => {
    expect(read(text)).toBe('absent');
  });
});
