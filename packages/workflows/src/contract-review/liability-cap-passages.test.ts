import { describe, expect, test } from 'vitest';
import { readClause } from './read-clause.fixture.ts';

// Invented passages in the ways of writing that filings, procurement forms, licences and leases use.
describe('liability cap, further passages', () => {
  test.each([
    ["In no event shall Vendor's liability exceed the total amount of fees actually paid by Customer.", 'fees_paid'],
    ['THE TOTAL LIABILITY OF LICENSOR SHALL NOT EXCEED $50,000 OR THE AMOUNT PAID, WHICHEVER IS LESS.', 'formula'],
    [
      "Licensor's liability for damages hereunder shall in no event exceed an amount equal to the license fee.",
      'fees_paid',
    ],
    ['Licensor shall not be liable for lost profits, loss of business or loss of use.', 'exclusion_only'],
    ["Contractor's liquidated damages shall not exceed 10% of the Contract Price.", 'absent'],
    [
      'The limitations of liability set forth in Section 10.6 of the Master Agreement are incorporated by reference herein.',
      'reference',
    ],
    [
      'Contractor and Owner waive claims against each other for consequential damages arising out of this Contract.',
      'exclusion_only',
    ],
    [
      "Supplier's total liability, including but not limited to negligence, shall be limited to fees paid in the prior six (6) months.",
      'fees_paid',
    ],
    [
      'Our total aggregate liability shall not exceed the amount paid by you in the 3 months preceding the claim.',
      'fees_paid',
    ],
    [
      "Each party's liability is limited to direct damages in an amount not to exceed Two Million Dollars ($2,000,000.00).",
      '2000000 USD amount',
    ],
    [
      "NOTWITHSTANDING ANYTHING HEREIN, NEITHER PARTY'S LIABILITY SHALL EXCEED ONE HUNDRED PERCENT (100%) OF THE CONTRACT PRICE.",
      '100 percent',
    ],
    ['Escrow Agent shall be liable for its gross negligence only.', 'absent'],
    ['The Executive may recover damages in excess of the amounts paid under insurance.', 'absent'],
    ['Licensee may make no more than 3 copies and is liable for damages caused by more copies.', 'absent'],
    ['The indemnifying party shall not be liable until losses exceed $50,000.', 'absent'],
    ['若涉及赔偿责任，甲方所负担的赔偿总额不超过本合同总金额。', 'fees_paid'],
    ['我们对直接损失的赔偿总额不超过您过去12个月内支付给我们的费用。', 'fees_paid'],
    ['赔偿总额不超过本合同年度总金额的 200%。', '200 percent'],
    ['违约方应赔偿守约方因此遭受的直接经济损失，但赔偿总额不超过本合同总价款的【  】%。', 'blank'],
    [
      '在法律允许的最大范围内，许可方在本协议项下的全部责任以被许可方在索赔发生前十二个月内实际支付的许可费为上限。',
      'fees_paid',
    ],
    ['乙方承担的违约金与赔偿金之和最高不超过合同总价款的百分之二十。', '20 percent'],
    ['在任何情况下，卖方对本合同项下全部索赔承担的责任均不得超过买方就引起索赔的货物所支付的价款。', 'fees_paid'],
    ['任何一方均不对另一方的利润损失、商誉损失或其他间接损失负责。', 'exclusion_only'],
    ['除本合同另有约定外，乙方不承担任何间接的、附带的损失赔偿责任。', 'exclusion_only'],
    ['乙方的累计赔偿责任限额为人民币（大写）伍佰万元整（¥5,000,000）。', '5000000 CNY amount'],
    ['乙方因违约给甲方造成损失的，应当承担赔偿责任，违约金不足以弥补损失的，还应补足差额。', 'absent'],
    ['每逾期一日支付合同价千分之一的违约金，违约金总额不超过合同价的10%。', 'absent'],
    ['乙方应购买公众责任险，保额不低于500万元。', 'absent'],
    ['变更增加的金额不超过原合同金额的10%的，双方另行签订补充协议并各自承担责任。', 'absent'],
    ['乙方迟延超过15日的，甲方有权解除合同并要求赔偿损失。', 'absent'],
    ['损失金额超过10万元的，应当在24小时内书面报告。', 'absent'],
    ['系统不承担任何间接性、后果性、惩戒性、偶然性或特殊性损害责任。', 'exclusion_only'],
    ['本公司根据本协议承担的集体责任不会超过 500 美元。', '500 USD amount'],
    ['对用户因本软件产生的累计赔偿责任总额不超过人民币 100 元。', '100 CNY amount'],
    ['甲方就任何一张订单承担的全部责任，以乙方为该订单实际支付给甲方的运费为上限。', 'fees_paid'],
    ['公司不承担任何间接、附带、特殊或衍生的损失所产生的赔偿责任。', 'exclusion_only'],
    ['In no event shall the total liability exceed INR 500 or 50% of the payment made, whichever is lower.', 'formula'],
    ['Contractor shall indemnify Company up to a maximum aggregate liability of $500,000.', '500000 USD amount'],
    [
      'IN NO EVENT SHALL ACME BE LIABLE FOR ANY DAMAGES WHATSOEVER (INCLUDING, WITHOUT LIMITATION, DAMAGES FOR LOSS OF BUSINESS PROFITS).',
      'exclusion_only',
    ],
    [
      "Party B's total liability for compensation under this contract shall be no more than 10% of the contract price.",
      '10 percent',
    ],
    ['Liability of either party is limited to actual direct damages.', 'absent'],
    ['The parties agree that the maximum amount of damages recoverable is USD 2 million.', '2000000 USD amount'],
    ['In no event will damages exceed the price paid for the product.', 'fees_paid'],
    [
      "EXCEPT FOR INDEMNITY, EACH PARTY'S LIABILITY IS CAPPED AT THE AMOUNT OF FEES PAYABLE IN THE TWELVE MONTHS BEFORE THE CLAIM.",
      'fees_paid',
    ],
    [
      'Bank shall in no event be liable for special, punitive or consequential damages, and Borrower waives any claim for them.',
      'exclusion_only',
    ],
    ['The liability of each Lender is several and limited to its Commitment.', 'absent'],
    ["Guarantor's liability hereunder shall not exceed $3,000,000 plus costs of collection.", '3000000 USD amount'],
    ['Tenant shall carry liability coverage of not less than $1,000,000.', 'absent'],
    ['The Company assumes no liability for loss of use in excess of $10,000.', '10000 USD amount'],
  ])('%s', (text, expected) => {
    expect(readClause('liability_cap', text)).toBe(expected);
  });
});
