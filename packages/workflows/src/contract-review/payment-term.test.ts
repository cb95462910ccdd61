import { describe, expect, test } from 'vitest';
import { readClause } from './read-clause.fixture.ts';

const read = (text: string) => readClause('payment_term', text);

describe('payment term, English', () => {
  test.each([
    ['Customer shall pay all undisputed invoices within thirty (30) days of receipt.', '30 days'],
    ['Payment terms are net 45.', '45 days'],
    ['Terms: 2% 10 days, net thirty (30) days.', '30 days'],
    ['Licensee shall pay each invoice no later than sixty (60) days after the invoice date.', '60 days'],
    ['All amounts are due thirty (30) days from the date of the invoice.', '30 days'],
    ['Royalties shall be paid within forty-five (45) days after the end of each calendar quarter.', '45 days'],
    [
      'Within ten (10) business days after receipt of each invoice, Client shall remit payment by wire.',
      '10 business_days',
    ],
    [
      'The Owner shall make progress payments to the Contractor within 15 days after approval of each application for payment.',
      '15 days',
    ],
    ['Invoices are payable upon receipt.', '0 days'],
    ['Payment shall be made thirty (30) days net from the invoice date.', '30 days'],
    ['The Fees are due and payable within 30\n   days of the\ninvoice date.', '30 days'],
    ['Company will reimburse Consultant within 21 days after receipt of an itemized invoice.', '21 days'],
    ['Each invoice shall be settled within one month of its date.', '1 months'],
    ['Customer agrees to pay for the Services within a period of 30 days following the invoice date.', '30 days'],
    ['The purchase price is payable within ninety (90) days after delivery of the Goods.', '90 days'],
    ['INVOICES SHALL BE PAID NOT LATER THAN FORTY-FIVE DAYS AFTER RECEIPT.', '45 days'],
    ['Licensee will pay all accurate invoices within [**] from the date of invoice receipt.', 'blank'],
    ['Customer shall pay the invoice within ____ days.', 'blank'],
    ['Licensee shall pay the License Fee according to the schedule set forth on the Cover Page.', 'schedule'],
    ['5. TERMS OF PAYMENT. Buyer shall pay Seller immediately upon execution of this Agreement.', '0 days'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ['Either party may terminate this Agreement on thirty (30) days prior written notice.'],
    [
      'The Executive shall be paid a lump sum severance payment within thirty (30) days after termination of employment.',
    ],
    ['The policy may not be cancelled without thirty (30) days notice to the party paying the premiums.'],
    ['Customer shall promptly pay all charges.'],
    ['Borrower shall repay the principal of the Loan within thirty (30) days after demand.'],
    ['Failure to pay any amount within five (5) days after it is due is an Event of Default.'],
    ['Supplier shall deliver the Goods within thirty (30) days after receipt of the order.'],
    ['Customer may dispute an invoice within twenty (20) days after receipt.'],
    ['Supplier shall refund the Fees paid within thirty (30) days after termination.'],
    ['The Software is warranted for ninety (90) days if Customer has paid the Fees.'],
    ['Such payment shall be made within thirty (30) days following said termination.'],
    ['Employee shall be paid his base salary in monthly installments.'],
    [
      'Licensor may terminate if Licensee fails to pay any amount due hereunder within thirty (30) days of the date due.',
    ],
    ['The insurer shall pay the loss within sixty (60) days of proof of loss.'],
    ['Any shortfall found by the audit shall be paid within ten (10) days.'],
    ['Payments due within such six-month period shall be delayed to its end.'],
  ])('not: %s', (text) => {
    expect(read(text)).toBe('absent');
  });

  test('a report and its payment may stand in two sentences', () => {
    const text =
      'Within thirty (30) days after the end of each calendar quarter, Licensee will send Supplier a report on the sales.\nThe report will state the fees owed. Licensee agrees to pay those fees by the time the report is due.';
    expect(read(text)).toBe('30 days');
  });

  test('the general rule for invoices is primary, an instalment supports it', () => {
    const text =
      'Buyer shall pay five thousand dollars ($5,000) within ten (10) days of execution of this Agreement.\n\nAll other sums will be paid within thirty (30) days after the date of invoice.';
    expect(read(text)).toBe('30 days +1');
  });

  test('a table of contents is no clause', () => {
    expect(read('4. Payment Terms ........ 30\n5. Invoices ........ 45\n6. Days ........ 60')).toBe('absent');
  });
});

describe('payment term, Chinese', () => {
  test.each([
    ['甲方应在收到发票后30日内付款。', '30 days'],
    ['甲方应于收到乙方开具的增值税发票之日起三十（30）个工作日内支付合同价款。', '30 business_days'],
    ['付款期限为收到发票后四十五天。', '45 days'],
    ['账期60天，以发票日期起算。', '60 days'],
    ['双方按月结30天结算货款。', '30 days'],
    ['验收合格后１５个工作日内，甲方向乙方支付合同总额的60%。', '15 business_days'],
    ['采购人自收到发票后10个工作日内将资金支付到合同约定的供应商账户。', '10 business_days'],
    ['被许可方应在每季度结束后三十日内向许可方支付许可使用费。', '30 days'],
    ['买方应在货到验收合格并收到发票后两个月内付清全部货款。', '2 months'],
    ['甲方收到发票后20日内完成审核并支付服务费。', '20 days'],
    ['货到付款，买方应当场付清货款。', '0 days'],
    ['甲方应在收到发票后____日内支付合同价款。', 'blank'],
    ['甲方应于次月10日前支付上月服务费。', 'schedule'],
    ['工程款在竣工验收合格后的28天内支付至合同价的95%。', '28 days'],
    ['付款方式：票到60天电汇。', '60 days'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ['任何一方可提前30日书面通知对方解除合同。'],
    ['乙方应在收到预付款后30日内交货。'],
    ['甲方应在收到货物后7日内提出异议，逾期视为验收合格并应付款。'],
    ['公司应在离职后15日内支付经济补偿金。'],
    ['乙方应在合同解除后10日内退还甲方已支付的款项。'],
    ['逾期付款超过30日的，乙方有权解除合同。'],
    ['质保期为验收合格之日起12个月，费用由乙方支付。'],
    ['乙方应在收到款项后5日内开具发票。'],
    ['用人单位应于每月15日前支付工资。'],
    ['借款人应在到期后30日内归还借款本金。'],
    ['卖方应在收到付款通知后3日内书面答复。'],
    ['甲方应按本合同约定及时付款。'],
  ])('not: %s', (text) => {
    expect(read(text)).toBe('absent');
  });
});
