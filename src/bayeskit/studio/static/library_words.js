// What the library says about the columns of a table and the end of a search, in Chinese too: a phrase for each of its phrases.

import { language } from "./words.js";

const KINDS = {
  target: "目标", "left out": "不使用", categorical: "类别", numeric: "数值", date: "日期", bernoulli: "二值（伯努利）",
  "equal-width": "等宽分箱", "equal-frequency": "等频分箱", mdl: "MDL 分箱", gaussian: "高斯", kde: "核密度", lognormal: "对数正态", poisson: "泊松",
};

const PHRASES = [
  [/^(\d+) classes$/, "$1 个类"],
  [/^you said so$/, "由您指定"],
  [/^it has no value in any row$/, "所有行都没有值"],
  [/^true or false$/, "真或假"],
  [/^numbers with fractions$/, "带小数的数"],
  [/^it holds dates$/, "日期"],
  [/^declared categories, (\d+) in use$/, "已声明的类别，使用了 $1 个"],
  [/^it holds (.+), which is neither text nor a number$/, "内容为 $1，既不是文本也不是数"],
  [/^whole numbers with (\d+) values?$/, "整数，共 $1 个不同值"],
  [/^it numbers the rows$/, "行号"],
  [/^free text, whose words are counted$/, "自由文本，按词计数"],
  [/^every row has a value of its own, as an id has$/, "每行的值都不同，像编号"],
  [/^(\d+) values in (\d+) rows are too many to count$/, "$2 行中有 $1 个不同值，太多而无法计数"],
  [/^text with (\d+) values?$/, "文本，共 $1 个不同值"],
  [/^dates \(year-month-day\) as .*$/, "日期（年-月-日），拆成年、月、星期、天数"],
  [/^dates \(day\.month\.year\) as .*$/, "日期（日.月.年），拆成年、月、星期、天数"],
  [/^dates \(month\/day\/year\) as .*$/, "日期（月/日/年），拆成年、月、星期、天数"],
  [/^year of (.+)$/, "$1 的年份"],
  [/^month of (.+)$/, "$1 的月份"],
  [/^hour of (.+)$/, "$1 的小时"],
  [/^weekday of (.+)$/, "$1 的星期"],
  [/^days since (\S+) of (.+)$/, "$2 距 $1 的天数"],
  [/^digits with leading zeros$/, "以零开头的数字串"],
  [/^digits too long for a number$/, "数字太长，不能作为数"],
  [/^percentages$/, "百分数"],
  [/^multiplied by the K, M or 万 of a cell$/, "已乘上单元格中的 K、M 或 万"],
  [/^in ([^ ]+)$/, "单位为 $1"],
  [/^times as hours$/, "时间换算成小时"],
  [/^decimal comma$/, "小数点为逗号"],
  [/^thousands separated$/, "有千位分隔符"],
  [/^text: 1,234 could be 1\.234 or 1234$/, "文本：1,234 可能是 1.234 或 1234"],
  [/^text: 2\/3\/2019 could be in February or in March$/, "文本：2/3/2019 可能是二月或三月"],
  [/^no change of one arc improves the score$/, "改动任何一条弧都不再提高得分"],
  [/^(\d+) steps without a better graph$/, "连续 $1 步没有更好的图"],
  [/^no insertion or deletion of an arc improves the score$/, "增加或减少一条弧都不再提高得分"],
  [/^no network has a higher score$/, "没有得分更高的网络"],
  [/^no larger conditioning set is left to try$/, "没有更大的条件集可试"],
  [/^the spanning tree is complete$/, "生成树已完成"],
  [/^(\d+) cells? such as (.+) read as missing$/, "$1 个单元格（如 $2）视为缺失"],
];

export const kindName = (kind) => (language() === "zh" && KINDS[kind]) || kind;

const translated = (part) => {
  const found = PHRASES.find(([pattern]) => pattern.test(part));
  return found && part.replace(found[0], found[1]);
};

// A reason may have several parts; one without a translation stays as it is.
export function reason(text) {
  if (language() !== "zh") return text;
  return text.split("; ").map((part) => translated(part) || part.split(", ").map((each) => translated(each) || each).join("，")).join("；");
}

// Methods that search a structure, and the steps of a training.
const METHODS = {
  "hill-climb": "爬山法", best: "最佳（顺序搜索与 GES）", order: "顺序搜索", tabu: "禁忌搜索", "chow-liu": "Chow–Liu 树",
  ges: "GES 等价类搜索", pc: "PC 独立性检验", mmhc: "MMHC 最大最小爬山", exact: "精确搜索",
};
const PROGRESS = {
  read: "读取表格", "waiting for other work to end": "等待其他工作结束", columns: "列", "explained rows": "解释的行", "learning curve": "学习曲线", leaderboard: "排行榜",
  values: "取值", changes: "变化", curves: "曲线", groups: "分组", "model card": "模型卡", confusion: "混淆矩阵", structure: "结构", classes: "类别", importance: "重要性",
  "data problems": "数据问题", effects: "影响", thresholds: "阈值", calibration: "校准", "majority class": "多数类",
};

export const methodName = (name) => (language() === "zh" && METHODS[name]) || name;

// A part of the report is told as "report: part"; names of models stay.
export function progressName(name) {
  if (language() !== "zh") return name;
  const [, part] = /^report: (.*)$/.exec(name) || [];
  return part ? `撰写报告\uff1a${PROGRESS[part] || part}` : PROGRESS[name] || name;
}
