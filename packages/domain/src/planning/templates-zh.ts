import type { QuestionShape, Template } from './question-shape.ts';

// “多少”是提问，不是比较。
const COMPARATIVE = '(?:更?(?:长|短|高|低|大|小|多|(?<!多)少|严格|早|晚))';
const SOMEONE = '(?:人员|人|负责人|经理|部门|团队|公司|供应商|客户|办公室|仓库|委员会|单位|项目|地区)';

const CHANGED = '(?:变化|变动|变更|调整|改变|修改|变|改)';

/** “关于加班的政策，最近”→“加班”: a change is asked for of whatever is ruled about it. */
function changing(topic: string): string {
  const bare = topic
    .replace(/[，,]?(?:最近|近来|近期|目前|现在|到底|后来)?[，,]?$/, '')
    .replace(/^(?:关于|对于|有关|在)/, '');
  return /^(?<what>..+?)(?:的)?(?:方面|政策|规定|制度|规则|情况|办法)$/.exec(bare)?.groups?.['what'] ?? bare;
}

/** “客户的付款期限”与“供应商”→“供应商的付款期限”。 */
function compared(first: string, second: string, attribute = ''): QuestionShape {
  const own = attribute !== '' ? attribute : /^.+?的(?<attribute>.+)$/.exec(first)?.groups?.['attribute'];
  const complete = (side: string) => (own === undefined || side.includes('的') ? side : `${side}的${own}`);
  return { shape: 'comparison', topics: [complete(first), complete(second)] };
}

/** Chinese, most specific first; question marks and times are already removed. */
export const ZH_TEMPLATES: readonly Template[] = [
  {
    // “2023年和2025年的付款期限有什么不同”: its times are removed, the word that joined them stays.
    pattern: new RegExp(
      `^(?:和|与|跟|同|比)的?(?<topic>.+?)(?:相差多少|差多少|(?:有什么|有何|有哪些|的)?(?:区别|不同|差别|差异|差距|${COMPARATIVE}))(?:吗|么)?$`,
    ),
    read: ({ topic = '' }) => ({ shape: 'comparison_over_time', topic }),
  },
  {
    pattern: /^(?:比较|对比)(?:一下)?(?<first>.+?)(?:和|与|跟|同)(?<second>.+?)(?:的区别|的差异)?$/,
    read: ({ first = '', second = '' }) => {
      const attribute = first.includes('的') ? '' : (/的(?<attribute>.+)$/.exec(second)?.groups?.['attribute'] ?? '');
      return compared(first, second, attribute);
    },
  },
  {
    pattern:
      /^(?<first>.+?)(?:和|与|跟|同)(?<second>.+?)(?:之间)?(?:的(?<attribute>[^的]+?))?(?:有什么|有何|有哪些|的|相差多少|差多少|有多大)(?:区别|不同|差别|差异|差距)?(?:是什么)?$/,
    read: ({ first = '', second = '', attribute = '' }) =>
      /(?:区别|不同|差别|差异|差距|相差|差)/.test(attribute) ? null : compared(first, second, attribute),
  },
  {
    pattern: new RegExp(
      `^(?<first>.+?)(?:和|与|跟)(?<second>.+?)(?:相比)?[，,]?(?:哪个|谁|哪一个)(?:的(?<attribute>.+?))?${COMPARATIVE}(?:一些)?$`,
    ),
    read: ({ first = '', second = '', attribute = '' }) => compared(first, second, attribute),
  },
  {
    pattern: new RegExp(`^(?<first>.+?)(?:是否)?比(?!例|率|较|赛)(?<second>.+?)${COMPARATIVE}(?:吗|么)?$`),
    read: ({ first = '', second = '' }) => compared(first, second),
  },
  {
    pattern: new RegExp(
      `^(?<topic>.+?)(?:有(?:过|没有|什么|何|哪些|无)?|发生了什么|发生过什么|是?如何|是?怎么|怎样|经历了哪些)(?:有|被)?${CHANGED}(?:过)?(?:的|吗|了|了吗)?$`,
    ),
    read: ({ topic = '' }) => ({ shape: 'change', topic: changing(topic) }),
  },
  {
    pattern: new RegExp(
      `^(?<topic>.+?)(?:(?:是?什么时候|是?何时|是否)${CHANGED}(?:过|了|的)|${CHANGED}(?:过|了)(?:吗|没有|没))$`,
    ),
    read: ({ topic = '' }) => ({ shape: 'change', topic: changing(topic) }),
  },
  {
    pattern: new RegExp(
      `^(?<relation>(?:负责|管理|主管|领导|供应|提供|批准|审批|运营|承担).+?)的${SOMEONE}的?(?<ask>.+)$`,
    ),
    read: ({ relation = '', ask = '' }) => ({
      shape: 'multi_hop',
      first: `谁${relation}`,
      second: `{g1}的${ask}`,
    }),
  },
  {
    pattern:
      /^(?<topic>.*(?:多少|什么|谁|何时|何人|哪|几|多久|多长|多大|多高|是否|能否|可否|可以|能不能|怎么|怎样|如何|为什么|吗|么|呢|需要|必须).*)$/,
    read: ({ topic = '' }) => ({ shape: 'lookup', topic }),
  },
];
