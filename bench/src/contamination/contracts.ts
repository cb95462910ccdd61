/**
 * What one contract of the benchmark says. The text is made from it, and the answer key reads it: neither
 * asks the review's own rules.
 */
export type Terms = {
  readonly language: 'en' | 'zh';
  readonly paymentDays: number;
  /** Percent of the overdue sum for each month. */
  readonly latePerMonth: number;
  /** Times the fees paid. */
  readonly capMultiple: number;
  readonly termYears: number;
  readonly noticeDays: number;
  readonly secretYears: number;
  readonly law: string;
  readonly warrantyMonths: number;
};

const LAWS = { en: ['New York', 'Delaware', 'Texas'], zh: ['中华人民共和国', '新加坡', '香港特别行政区'] } as const;
const WORDS: Readonly<Record<number, string>> = {
  1: 'one',
  2: 'two',
  3: 'three',
  5: 'five',
  6: 'six',
  12: 'twelve',
  15: 'fifteen',
  24: 'twenty-four',
  30: 'thirty',
  45: 'forty-five',
  60: 'sixty',
  90: 'ninety',
};

function pick<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('a list without items');
  return item;
}

/**
 * The terms of the n-th contract: every other one is Chinese, and the periods of the lists share no factor, so
 * that terms meet in many ways.
 */
export function termsOf(index: number): Terms {
  const language = index % 2 === 0 ? 'en' : 'zh';
  const nth = Math.floor(index / 2);
  return {
    language,
    paymentDays: pick([15, 30, 45, 60, 90], nth),
    latePerMonth: pick([0.5, 1, 1.5], nth + 1),
    capMultiple: pick([1, 2], nth),
    termYears: pick([1, 2, 3, 5], nth),
    noticeDays: pick([15, 30, 60, 90], nth + 2),
    secretYears: pick([1, 2, 3, 5], nth + 1),
    law: pick(LAWS[language], nth),
    warrantyMonths: pick([6, 12, 24], nth + 2),
  };
}

function inWords(count: number, unit: string): string {
  return `${WORDS[count] ?? count} (${count}) ${unit}${count === 1 ? '' : 's'}`;
}

/** A service agreement that says just that. `number` keeps two contracts with the same terms apart. */
export function writeContract(terms: Terms, number: number): string {
  return terms.language === 'en' ? writeEnglish(terms, number) : writeChinese(terms, number);
}

function writeEnglish(terms: Terms, number: number): string {
  const { paymentDays, latePerMonth, capMultiple, termYears, noticeDays, secretYears, law, warrantyMonths } = terms;
  return `# MASTER SERVICES AGREEMENT No. ${number}

between Harbourline Systems Ltd. ("Supplier") and Customer ${number} Inc. ("Customer").

1. Term. The initial term of this Agreement is ${inWords(termYears, 'year')} from the Effective Date.

2. Fees. Customer shall pay each undisputed invoice within ${inWords(paymentDays, 'day')} after receipt of the invoice.

3. Late payment. Overdue amounts bear interest at the rate of ${latePerMonth}% per month until paid.

4. Warranty. Supplier warrants that for a period of ${inWords(warrantyMonths, 'month')} after delivery the software will perform in accordance with its documentation.

5. Confidentiality. Each party shall keep the Confidential Information of the other in confidence for ${inWords(secretYears, 'year')} after the end of this Agreement.

6. Liability. Supplier's total liability under this Agreement shall not exceed ${inWords(capMultiple, 'time')} the fees paid by Customer under this Agreement.

7. Termination. Either party may terminate this Agreement for convenience at any time upon ${inWords(noticeDays, 'day')}' prior written notice.

8. Governing law. This Agreement shall be governed by the laws of the State of ${law}.

9. Notices. Notices are sent to the addresses on the signature page; order ${number} is attached as Exhibit A.
`;
}

function writeChinese(terms: Terms, number: number): string {
  const { paymentDays, latePerMonth, capMultiple, termYears, noticeDays, secretYears, law, warrantyMonths } = terms;
  return `# 软件服务合同（编号${number}）

甲方：客户${number}有限公司　乙方：远帆信息技术有限公司

第一条 合同期限。本合同期限为${termYears}年，自双方签字盖章之日起生效。

第二条 付款。甲方应在收到乙方开具的发票后${paymentDays}日内支付服务费。

第三条 逾期付款。甲方逾期付款的，应按逾期金额每月${latePerMonth}%向乙方支付违约金。

第四条 质量保证。软件的质保期为验收合格之日起${warrantyMonths}个月。

第五条 保密。双方应对知悉的对方商业秘密予以保密，保密期限为合同终止后${secretYears}年。

第六条 责任限制。乙方在本合同项下的赔偿责任总额不超过甲方已支付服务费的${capMultiple}倍。

第七条 合同解除。任何一方可提前${noticeDays}日书面通知对方解除本合同。

第八条 法律适用。本合同适用${law}法律。

第九条 其他。本合同附件${number}与正文具有同等效力。
`;
}
