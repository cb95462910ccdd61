/** How far before and after a number its currency or unit may be. */
const REACH = 12;
const BEFORE =
  /(?:[¥$€£￥₩]|\b(?:RMB|CNY|USD|EUR|GBP|HKD|JPY|US\$)|人民币|美元|欧元|港币|金额|总价|价款|合计|共计|amount(?:s)?(?: of| to)?)[ :：]{0,3}$/i;
const AFTER =
  /^ {0,2}(?:[%‰]|元|万|亿|千|百|块|角|分(?!机)|美元|欧元|港币|日元|英镑|股|吨|公斤|千克|平方|件|套|台|(?:RMB|CNY|USD|EUR|GBP|HKD|JPY|dollars?|euros?|pounds?|yuan|percent|thousand|million|billion|shares?|units?|kg|tons?)\b)/i;

/**
 * A number with a currency or a unit beside it is a quantity, whatever its digits add up to. `folded` is text without
 * full-width forms.
 */
export function isAmount(folded: string, start: number, end: number): boolean {
  return BEFORE.test(folded.slice(Math.max(0, start - REACH), start)) || AFTER.test(folded.slice(end, end + REACH));
}
