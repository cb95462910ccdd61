import { describe, expect, test } from 'vitest';
import { readClause } from './read-clause.fixture.ts';

const read = (text: string) => readClause('liability_cap', text);

describe('liability cap, English', () => {
  test.each([
    ["In no event will Supplier's liability exceed the amounts paid to Supplier by Licensee hereunder.", 'fees_paid'],
    ["Supplier's total liability shall not exceed $1,000,000.", '1000000 USD amount'],
    [
      'The aggregate liability of either party is limited to five hundred thousand dollars ($500,000).',
      '500000 USD amount',
    ],
    ["Vendor's liability is capped at two (2) times the fees paid in the preceding twelve months.", '2 multiple'],
    ['In no event shall either party be liable for more than twice the annual fees.', '2 multiple'],
    ['The liability of the Contractor shall be limited to 20% of the Contract Price.', '20 percent'],
    ["Supplier's liability shall not exceed the greater of $100,000 and the fees paid.", 'formula'],
    [
      'IN NO EVENT SHALL LICENSEE BE ENTITLED TO ANY MONETARY DAMAGES IN EXCESS OF THE LICENSE FEES PAID TO LICENSOR.',
      'fees_paid',
    ],
    [
      'NEITHER PARTY SHALL BE LIABLE (A) FOR ANY CONSEQUENTIAL DAMAGES; OR (B) FOR ANY AMOUNTS IN EXCESS OF THE AGGREGATE OF FEES PAID HEREUNDER.',
      'fees_paid',
    ],
    ['In no event shall Licensor be liable for any indirect, special or consequential damages.', 'exclusion_only'],
    ['Each party waives any claim against the other for punitive or consequential damages.', 'exclusion_only'],
    ['The maximum liability of the Consultant under this Agreement is the fees received by it.', 'fees_paid'],
    ['Our liability to you will not exceed £250,000.', '250000 GBP amount'],
    ["Seller's liability for damages shall in no case exceed the purchase price of the goods.", 'fees_paid'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ['Contractor shall maintain general liability insurance with limits of not less than $1,000,000 per occurrence.'],
    ['Acme Holdings, a Delaware limited liability company, shall not exceed the budget of $500,000.'],
    ['"Consequential Damages" means any liability for indirect, special or punitive damages.'],
    ['It is a default if a guarantor incurs any debt or other liability in excess of $250,000.'],
    ['Borrower shall at all times remain liable for payment of the Loan.'],
    ["The Company's obligation to pay for such services shall in no event exceed 10% of the Base Amount."],
    ['The ratio of total liabilities to net worth shall not exceed 3.0 to 1.0.'],
    ['Owner shall not be liable to the contractor for goods or services furnished by others.'],
    ['Supplier shall indemnify Customer against all claims, liabilities and damages.'],
    ['Lender will not advance any amount in excess of $7,400,000.'],
    ['Each party is liable for its own taxes.'],
    ['The remedy is limited to the re-performance of the defective service, for which Supplier is liable.'],
  ])('not: %s', (text) => {
    expect(read(text)).toBe('absent');
  });

  test('the ceiling on everything is primary, one on a single indemnity and exclusions support it', () => {
    const text =
      "The maximum indemnity of Supplier covered by this Section shall be limited to the fees paid in 12 months.\n\nNO PARTY SHALL BE LIABLE FOR CONSEQUENTIAL DAMAGES.\n\nSupplier's total liability shall not exceed USD 750,000.";
    expect(read(text)).toBe('750000 USD amount +2');
  });

  test('a quote goes on over a page break', () => {
    const text =
      "Vendor's total liability to Customer for any and all claims, other\n\n\n5\n<PAGE>   6\nCONFIDENTIAL\n\nthan claims of third parties, shall be limited to the amount actually paid by Customer.";
    expect(read(text)).toBe('fees_paid');
  });
});

describe('liability cap, Chinese', () => {
  test.each([
    ['乙方的赔偿总额不超过合同总额的20%。', '20 percent'],
    ['任何情况下，乙方承担的全部赔偿责任以甲方已支付的服务费为限。', 'fees_paid'],
    ['乙方对甲方的赔偿责任累计不超过人民币壹佰万元。', '1000000 CNY amount'],
    ['许可方的责任总额不得超过被许可方实际支付的许可费的两倍。', '2 multiple'],
    ['双方同意，任何一方的最高赔偿限额为合同总价的百分之一百。', '100 percent'],
    ['供应商的违约金及赔偿金总额不超过合同总价的30%。', '30 percent'],
    ['乙方不对间接损失、可得利益损失承担责任。', 'exclusion_only'],
    ['在任何情况下，许可方均不就任何附带性、后果性或惩罚性损害承担赔偿责任。', 'exclusion_only'],
    ['乙方在本合同项下承担的责任上限为500万元。', '5000000 CNY amount'],
    ['卖方的赔偿责任不超过该批货物的货款。', 'fees_paid'],
    ['乙方的赔偿责任以人民币50万元或合同总价孰高者为限。', 'formula'],
    ['乙方累计赔偿金额不应超过甲方在前12个月内支付的费用总额。', 'fees_paid'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ['乙方应投保责任保险，每次事故责任限额不低于人民币200万元。'],
    ['逾期交货违约金累计不超过合同总价的5%。'],
    ['乙方应赔偿甲方因此遭受的全部损失。'],
    ['某某有限责任公司的注册资本不超过1000万元。'],
    ['股东以其认缴的出资额为限对公司承担责任。'],
    ['双方对各自的损失承担责任。'],
    ['合同总价不超过人民币100万元。'],
    ['乙方应承担包括间接损失在内的全部赔偿责任。'],
    ['甲方不承担运输费用。'],
    ['质保期不超过24个月，乙方负责维修。'],
    ['逾期付款超过30日的，甲方应承担违约责任。'],
    ['变更金额不得超过合同金额的10%。'],
  ])('not: %s', (text) => {
    expect(read(text)).toBe('absent');
  });
});
