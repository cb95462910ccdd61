import { describe, expect, test } from 'vitest';
import { findQuantities } from './index.ts';

function brief(text: string): string[] {
  return findQuantities(text).map((found) => {
    const per = found.per === undefined ? '' : `/${found.per}`;
    const currency = found.currency === undefined ? '' : ` ${found.currency}`;
    return `${found.value} ${found.unit}${per}${currency}`;
  });
}

describe('findQuantities', () => {
  test.each([
    ['within thirty (30) days', '30 days'],
    ['(30) thirty days', '30 days'],
    ['within thirty (30)\n   days of billing', '30 days'],
    ['forty-five (45) business days', '45 business_days'],
    ['a 30-day period', '30 days'],
    ['eighteen percent (18%) per annum', '18 percent/year'],
    ['the lesser of 1\n1/2% per month', '1.5 percent/month'],
    ['one and one-half percent (1.5%) per month', '1.5 percent/month'],
    ['one and one half percent (1 1/2%) a month', '1.5 percent/month'],
    ['1½% per month', '1.5 percent/month'],
    ['an annual rate of 12%', '12 percent/year'],
    ['18% p.a.', '18 percent/year'],
    ['one-half of one percent per month', '0.5 percent/month'],
    ['thirty hundredths of one percent (.30%) per annum', '0.3 percent/year'],
    ['50 basis points', '0.5 percent'],
    ['RMB 80,000 (eighty thousand) yuan', '80000 amount CNY'],
    ['90 billion dollars', '90000000000 amount USD'],
    ['US$1,000,000', '1000000 amount USD'],
    ['$1.5 million', '1500000 amount USD'],
    ['two hundred fifty thousand dollars ($250,000)', '250000 amount USD'],
    ['one hundred and twenty thousand five hundred', '120500 number'],
    ['two and one half times the fees', '2.5 multiple'],
    ['收到发票后30日内', '30 days'],
    ['三十个工作日内', '30 business_days'],
    ['６０日内', '60 days'],
    ['三十（30）日内', '30 days'],
    ['一百二十天', '120 days'],
    ['两个月内', '2 months'],
    ['一个半月内', '1.5 months'],
    ['每日万分之五', '0.05 percent/day'],
    ['日万分之五', '0.05 percent/day'],
    ['按日千分之一', '0.1 percent/day'],
    ['5‰', '0.5 percent'],
    ['１８％', '18 percent'],
    ['百分之三十（30%）', '30 percent'],
    ['年利率6%', '6 percent/year'],
    ['按每月1.5%的利率', '1.5 percent/month'],
    ['bear interest at 1 and 1/2% per month', '1.5 percent/month'],
    ['每月30万元', '300000 amount/month CNY'],
    ['0.05% of the overdue amount per day', '0.05 percent/day'],
    ['12% APR', '12 percent/year'],
    ['no later than the thirtieth (30th) day following', '30 days'],
    ['0.05%/日', '0.05 percent/day'],
    ['人民币壹佰万元整（￥1,000,000.00）', '1000000 amount CNY'],
    ['90亿元', '9000000000 amount CNY'],
    ['1亿2,000万元', '120000000 amount CNY'],
    ['人民币100万元', '1000000 amount CNY'],
    ['HK$5万', '50000 amount HKD'],
  ])('%s', (text, expected) => {
    expect(brief(text)).toEqual([expected]);
  });

  test.each([
    ['Section 3.1.2 and the 15th day'],
    ['on March 31, 1997'],
    ['2024年3月15日签订'],
    ['次月10日前'],
    ['第三十条'],
    ['Exhibit B2'],
  ])('%s holds no quantity', (text) => {
    expect(brief(text)).toEqual([]);
  });

  test('a year is no duration', () => {
    expect(brief('in the year 2024年')).toEqual(['2024 number']);
  });

  test('90亿 and 90 billion differ by a factor of ten', () => {
    expect(findQuantities('90亿元')[0]?.value).toBe('9000000000');
    expect(findQuantities('90 billion yuan')[0]?.value).toBe('90000000000');
  });

  test('words and digits that disagree are kept apart', () => {
    expect(findQuantities('within thirty (60) days')[0]).toMatchObject({ value: '30', conflict: '60', unit: 'days' });
  });

  test('a period named before the rate does not leak into a ceiling after it', () => {
    expect(brief('每逾期一日，按合同总额的0.5%支付违约金，累计不超过合同总额的5%')).toEqual([
      '1 days',
      '0.5 percent/day',
      '5 percent',
    ]);
    expect(brief('for each week of delay, 0.5% of the price, up to a maximum of 10%')).toEqual([
      '0.5 percent/week',
      '10 percent',
    ]);
  });

  test.each([
    ['１２．５％', ['12.5 percent']],
    ['５－２０％', ['5 percent', '20 percent']],
    ['百分之6', ['6 percent']],
    ['一百六十八萬', ['1680000 number']],
    ['１，２３４', ['1234 number']],
    ['within 30 to 60 days', ['30 days', '60 days']],
    ['三至五个工作日', ['3 business_days', '5 business_days']],
    ['壹佰贰拾万圆整', ['1200000 amount CNY']],
    ['２．５亿元', ['250000000 amount CNY']],
    ['USD 3.5 million', ['3500000 amount USD']],
    ['90 thousand dollars', ['90000 amount USD']],
  ])('D17: full-width digits, percent, mixed numerals and ranges: %s', (text, expected) => {
    expect(brief(text)).toEqual(expected);
    for (const { value } of findQuantities(text)) expect(Number(value)).toBeGreaterThan(0);
  });

  test('spans cut the original text, full-width forms and all', () => {
    const text = '甲方应于收到发票后三十（３０）日内付款';
    const [found] = findQuantities(text);
    expect(found).toMatchObject({ value: '30', unit: 'days' });
    expect(text.slice(found?.span.start, found?.span.end)).toBe('三十（３０）日');
  });

  test.each([
    ['parentheses', '('.repeat(4 << 20)],
    ['digits', '1'.repeat(4 << 20)],
    ['Chinese numerals', '三'.repeat(4 << 20)],
    ['digits and commas', ','.repeat(1 << 19).concat('9,'.repeat(1 << 18))],
    ['spaces', ' '.repeat(4 << 20)],
  ])('hostile runs of %s are read in linear time', (_name, hostile) => {
    // CPU time, because other tests share the cores.
    const before = process.cpuUsage();
    findQuantities(hostile);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(2_000);
  });
});
