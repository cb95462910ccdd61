import { describe, expect, test } from 'vitest';
import { readClause } from './read-clause.fixture.ts';

// Invented passages in the ways of writing that filings, procurement forms, licences and leases use.
describe('payment term, further passages', () => {
  test.each([
    [
      "Licensee shall pay all amounts due under this Agreement within thirty (30) days of the date of Licensor's invoice.",
      '30 days',
    ],
    [
      'Except as otherwise provided, all payments hereunder shall be made net thirty (30) days from date of invoice.',
      '30 days',
    ],
    [
      'Royalty payments shall be due and payable within sixty (60) days following the end of each calendar quarter.',
      '60 days',
    ],
    ['Payment of the License Fees shall be due thirty days after delivery of the Software.', '30 days'],
    [
      "Client shall pay Consultant's invoices upon receipt, but in any event no later than fifteen (15) days thereafter.",
      '15 days',
    ],
    [
      'Contractor shall submit invoices monthly, and Owner shall pay the undisputed portion thereof within forty-five (45) days of receipt thereof.',
      '45 days',
    ],
    [
      "Owner shall pay Contractor within thirty (30) days after receipt of Contractor's properly prepared Application for Payment.",
      '30 days',
    ],
    ['The Maintenance Fee shall be payable annually in advance.', 'schedule'],
    [
      'Within 45 days after the end of each calendar quarter, Licensee shall deliver to Licensor a report of sales together with the royalties due for such quarter.',
      '45 days',
    ],
    ['Terms of payment: 50% upon signing, 50% net 30 upon delivery.', '30 days'],
    ['The Company shall pay to Consultant the fees within 10 days of receiving an invoice.', '10 days'],
    [
      "Buyer's payment shall be due within 30 days from the end of the month in which the invoice is received.",
      '30 days',
    ],
    ['Final payment shall be made by Owner within thirty (30) days after completion of the Work.', '30 days'],
    ['Payment is due 30 days from invoice date.', '30 days'],
    [
      'Customer will pay the amounts invoiced within 30 calendar days from the date it receives the invoice.',
      '30 days',
    ],
    [
      'All payments shall be made in U.S. dollars, by wire transfer, no later than the thirtieth (30th) day following the date of invoice.',
      '30 days',
    ],
    [
      "The invoice amount shall become due and payable sixty (60) days after Customer's receipt of the invoice.",
      '60 days',
    ],
    ['Licensor shall invoice Licensee upon shipment, payable net thirty (30) days.', '30 days'],
    ['AMBIX will invoice ACC monthly. Invoices are due within fifteen (15) days.', '15 days'],
    ['Subcontractor shall be paid within seven (7) days after Contractor receives payment from Owner.', '7 days'],
    [
      'The Consulting Fee shall be payable within five (5) business days after the end of each month.',
      '5 business_days',
    ],
    [
      'Any undisputed charges shall be payable forty five (45) days following receipt by IBM of an acceptable invoice.',
      '45 days',
    ],
    ['Tenant shall give Landlord thirty (30) days to pay or quit.', 'absent'],
    ['Employee will be paid accrued vacation within ten (10) days of resignation.', 'absent'],
    [
      'Either party may terminate this Agreement if the other fails to make any payment within ten (10) days after written notice.',
      'absent',
    ],
    ['The option price shall be paid within thirty days after exercise of the option to purchase shares.', 'absent'],
    ['Upon termination Licensee shall return all copies within ten (10) days and pay all amounts due.', 'absent'],
    ['Borrower shall pay when due, or within five (5) days thereafter, each installment of principal.', 'absent'],
    [
      'If Licensor does not receive payment within ten (10) days after notice of non-payment, it may suspend the services.',
      'absent',
    ],
    ['The warranty period is ninety (90) days from payment of the license fee.', 'absent'],
    [
      '采购人应当自收到发票后10个工作日内，将资金支付到合同约定的供应商账户，不得以机构变动、人员更替、政策调整等为由延迟付款。',
      '10 business_days',
    ],
    [
      '合同签订后5个工作日内，甲方向乙方支付合同总额的30%作为预付款；货物验收合格并收到发票后30日内，支付合同总额的65%；剩余5%作为质保金。',
      '30 days +1',
    ],
    [
      '2.3 付款方式：乙方交付全部货物并经甲方验收合格后，甲方于收到乙方合法有效的增值税专用发票之日起【30】日内一次性支付全部货款。',
      '30 days',
    ],
    ['本合同生效之日起15日内，被许可方应向许可方支付许可使用费人民币200万元。', '15 days'],
    ['发包人应在监理人收到进度付款申请单后的28天内，将进度应付款支付给承包人。', '28 days'],
    ['乙方每月5日前向甲方提交上月对账单，甲方核对无误后于当月25日前付款。', 'schedule'],
    ['买方应于提单日后九十（90）天内以电汇方式付清货款。', '90 days'],
    ['甲方应在验收合格后 30 个自然日内向乙方支付服务费。', '30 days'],
    ['付款期限：货到票到后45天。', '45 days'],
    ['需方收到供方发票后，应于60日之内付清该批货款。', '60 days'],
    ['承租人应在收到出租人通知之日起七日内支付维修费用。', '7 days'],
    ['甲方在收到乙方开具的正式发票后的三十天内付款给乙方', '30 days'],
    ['结算方式：月结60天。', '60 days'],
    ['双方确认，服务费按季度结算，甲方应于每季度结束后15个工作日内支付。', '15 business_days'],
    ['甲方应在验收合格之日起三个月内支付剩余款项。', '3 months'],
    ['乙方应在收到甲方支付的预付款之日起20日内完成设计方案。', 'absent'],
    ['甲方应在乙方提交成果后10日内组织验收，验收合格的，按第五条付款。', 'absent'],
    ['投标保证金在中标通知书发出后5个工作日内退还。', 'absent'],
    ['如甲方未在30日内付款，乙方有权解除合同。', 'absent'],
    ['乙方应于合同签订后10日内向甲方支付履约保证金。', '10 days'],
    ['甲方逾期30日仍未支付的，乙方有权终止服务。', 'absent'],
    ['劳动合同解除后，公司应在15日内办理档案转移并支付工资。', 'absent'],
    ['仲裁费用由败诉方在裁决作出后30日内支付。', 'absent'],
    ['有效期自双方盖章之日起三年，乙方每年支付维护费。', 'absent'],
    ['乙方须在24小时内响应，48小时内修复，费用已包含在合同价款中。', 'absent'],
    ['甲方应在合同签署后 5 个工作日内支付合同总额的 60% 作为预付款。', '5 business_days'],
    ['4.1 合同签订后____个工作日内支付合同总价的____%作为预付款。', 'blank'],
    ['乙方在货到并验收合格后 个工作日内一次性支付全部货款。', 'blank'],
    ['对费用有异议的，应在费用产生之日起 30 日内书面提出，逾期视为确认。', 'absent'],
    ['乙方有未结清费用的，应在甲方通知后 7 日内付清。', '7 days'],
    ['验收通过后，甲方应于10个工作日内支付合同款项。', '10 business_days'],
    [
      '甲方应当在15个工作日内完成系统验收并出具书面验收合格单；验收合格后10个工作日内支付合同价款的90%。',
      '10 business_days',
    ],
    ['On termination, all outstanding invoices shall be paid within thirty (30) days.', '30 days'],
    [
      'Customer must tell us in writing within seven (7) calendar days of receipt of the invoice if it disputes it.',
      'absent',
    ],
    [
      'Fees are invoiced monthly in arrears and are payable within thirty (30) days of receipt of the invoice.',
      '30 days',
    ],
    [
      'We may deduct fees from the account if payment is not received within thirty (30) days of the invoice date.',
      '30 days',
    ],
    ['All payments are due within [30] days of invoice date.', '30 days'],
    ['Payment due within [____] days of invoice date.', 'blank'],
    ['Payment is due within 14 days of receipt of the invoice without deduction.', '14 days'],
    [
      'The Owner shall make payment not later than thirty ( 30 ) days after the Architect receives the Application for Payment.',
      '30 days',
    ],
    ['All invoices are payable in full thirty (30) days after the invoice date.', '30 days'],
    ['Licensee agrees to make payment 30 days after receipt of the products.', '30 days'],
    ['NET 30 DAYS FROM DATE OF INVOICE.', '30 days'],
    ['Party A shall pay 30% of the contract price within 10 days after the contract is signed.', '10 days'],
    [
      'Within fifteen (15) days of completion and acceptance of the works, Party A shall pay the balance of the contract price.',
      '15 days',
    ],
    ["Borrower shall pay Lender's legal fees within ten (10) days after receipt of an invoice.", '10 days'],
    ['Amounts so billed shall be due and payable ten (10) business days after billing.', '10 business_days'],
    ['Licensee shall remit the Royalty no later than the last day of the month following each quarter.', 'absent'],
    [
      'Distributor will pay Company the amount owing within the period of sixty (60) days from the date of the bill of lading.',
      '60 days',
    ],
    ['Customer has thirty (30) days from the invoice date to pay.', '30 days'],
    ['The due date of each invoice is forty-five (45) days after its date.', '45 days'],
    ['Standard payment terms: thirty (30) days from invoice.', '30 days'],
    ['Escrow Agent shall pay the escrowed sum within three (3) business days after joint instructions.', 'absent'],
    [
      "Supplier shall respond to Customer's request for quotation within 5 days; fees are set out in Exhibit A.",
      'absent',
    ],
    ['Rent is payable in advance; tenant has a thirty (30) day right to terminate.', 'absent'],
    ['Late fees accrue if payment is more than fifteen (15) days late.', 'absent'],
  ])('%s', (text, expected) => {
    expect(readClause('payment_term', text)).toBe(expected);
  });
});
