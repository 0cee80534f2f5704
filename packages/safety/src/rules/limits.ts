// Rules for texts that set moral, legal or safety limits aside: a denial, and the limit that it denies.
import { NOT } from './denial.ts'
import { combine, list, oneOf, pattern } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

/** What nobody but a person or a machine that judges has: to deny it is to set limits aside. */
const CONSCIENCE =
  oneOf(`morals?|morality|moral compass|ethics?|ethicality|legality|conscience|censorship|scruples|moderation polic(?:y|ies)|content polic(?:y|ies)|usage polic(?:y|ies)|
content filters?|safety filters?|ethical filters?|openai|guard ?rails|inhibitions|(?:the )?laws? (?:or|and) ethics|political correctness`)
const LIMIT =
  oneOf(`guidelines?|filters?|filtering|restrictions?|polic(?:y|ies)|limitations?|limits|constraints?|boundaries|bounds|censorship|standards|principles|safeguards|
guard ?rails|protocols|rules|laws|norms|values|concerns?|considerations?|codes?|inhibitions?|qualms|obligations?|implications?|consequences`)
/** What may stand between a denial and what is denied. */
const FILLER = oneOf(
  `any|all|of|the|its|your|his|her|their|my|these|those|such|about|for|to|with|or|and|nor|kind|kinds|sort|sorts|form|forms|no|moral|ethical|legal|openai['’]?s?|content|safety|ai|programmed|societal|social|usual|typical|normal|standard|human|laws?`,
)

/** That something does not hold, is not followed, or is taken away. */
const DENIED = oneOf(
  [
    `no|without|sans|zero|lacks?|lacking|devoid of|beyond|regardless of|irrespective of|despite|free (?:of|from)|freed from|liberated from|released from|unbound by|unrestricted by|unconstrained by|unburdened by`,
    String.raw`${NOT} (?:be )?(?:bound|limited|restricted|constrained|governed|subject|subjected|confined|held back|tied|chained|affected|hindered) (?:by|to)`,
    String.raw`${NOT} (?:have|need|required?|obliged|supposed)? (?:to )?(?:follow|abide by|adhere to|obey|comply with|care (?:about |for )?|respect|consider|concern (?:it|him|her|your)self with|worry about|believe in|have|possess|mind|taught|given|learned|learnt|observe|regard|think about|align with|recogni[sz]e|conform to|stick to)`,
    `ignor(?:e|es|ing)|disregard(?:s|ing)?|bypass(?:es|ing)?|breaks?|breaking|broke|violat(?:e|es|ing)|remov(?:e|es|ed|ing)|override|overrides|disabl(?:e|es|ed|ing)|circumvent(?:s|ing)?|defies|defy|defying|goes against|go against|going against|lifts?|lifted|suspend(?:s|ed)?|drops?|forgets?|evade|evades|abandon(?:s|ed)?|throws? away|opposite of`,
  ].join('|'),
)

const LIMIT_RULES: readonly Rule[] = [
  {
    id: 'no-limits',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b${DENIED} (?:(?:${FILLER}|${LIMIT}) )*(?:${CONSCIENCE}\b|(?:moral|ethical|openai(?:'|’)?s?|censorship) (?:(?:and|or|nor|moral|ethical|legal|content|safety|social|societal|usage|policy) )*${LIMIT}\b)`,
          String.raw`\b(?:broken|break|breaking|broke|breaks) free (?:of|from) (?:the |its |all |your )?(?:typical |usual |normal )?(?:confines|constraints|limits|chains|shackles|restrictions|rules|limitations) (?:of|set by|imposed by|that) `,
          String.raw`\bopenai(?:'s|’s)? (?:content |usage |ethical |safety |moral )*(?:polic(?:y|ies)|guidelines|restrictions|rules|filters?|limitations)\b`,
          String.raw`\b(?:rules?|restrictions?|polic(?:y|ies)|guidelines|limitations?|limits|constraints|filters)(?: and (?:rules|restrictions|policies|guidelines|limitations))? (?:that (?:were |was |are |have been )?)?(?:set|imposed|placed|forced|put|given|made|enforced|established|programmed|laid down) (?:\w+ )?(?:by|on|upon|in|into|down by) (?:\w+ )?(?:openai|it by|them by|you by|you|him by|him|your (?:creators?|makers?|developers?|owners?)|its (?:creators?|makers?|developers?|owners?)|(?:the )?(?:ai|chatgpt|original|anthropic|google))\b`,
          String.raw`\b(?:usual|normal|standard|typical) (?:ethical|moral|ai) (?:protocols|guidelines|rules|standards|restrictions|limitations)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'unlimited',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.4,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:no|without|without any|has no|have no|zero|free of|free of all|free from|free from all|free from any|${NOT} have any|remove all|lift all|all) (?:more |kind of |sort of |such |of (?:your|its|the) |your |its |absolutely )?(?:rules|restrictions|limitations|limits|filters?|constraints|prohibitions|boundaries|guidelines)(?: (?:or|and|nor|whatsoever|at all|on|to what|in what|,) |[.!;:,)\]\n"]|$)`,
          String.raw`\b${NOT} (?:be )?(?:bound|limited|restricted|constrained|confined|governed|subject|held back) (?:by|to) (?:any |all |the |these |those |its |your |such |usual |normal |same )*(?:rules|restrictions?|limitations?|limits|filters?|constraints|polic(?:y|ies)|guidelines|laws?|human|society|programming)`,
          String.raw`\b${NOT} (?:have to |need to |required to )?(?:follow|abide by|adhere to|obey) (?:any |all |the |these |those |its |your |such |usual |normal |same |typical |traditional )*(?:rules|restrictions?|limitations?|polic(?:y|ies)|guidelines|laws?|programming|language model)`,
          String.raw`\b(?:rules|laws|polic(?:y|ies)|restrictions|guidelines|limitations|filters) (?:and \w+ )?(?:${NOT}|do not|does not) (?:apply|exist|matter|affect|bind|count|hold)\b`,
          String.raw`\b(?:world|universe|reality|place|dimension|realm|scenario|state|land) (?:\w+ )?(?:where|in which|with|without|that has) (?:there (?:are|is) )?(?:no|any|all|everything|nothing)? ?(?:is )?(?:laws?|rules|restrictions|limits|illegal|legal|allowed|forbidden|ethics|morals)\b`,
        ].join('|'),
      ),
    ),
  },
]

export const LIMITS: RuleGroup = {
  id: 'limits',
  anchors: [
    ...list(
      'moral|ethic|openai|censor|legality|conscience|scruple|inhibition|guardrail|guard rail',
    ),
    ...list(
      'content filter|safety filter|content polic|usage polic|moderation polic|political correct',
    ),
    ...combine(
      'normal |usual |typical |standard ',
      'ai rule|ai guid|ai proto|ai stand|ai restr|ai limit',
    ),
    ...combine('free of |free from ', 'any|all|filter|restrict|limit|rule|constraint'),
    ...combine(
      'no |any |all |without |by |by the |your |and ',
      'rules|limits|filters|restrictions|limitations|guidelines|laws',
    ),
    ...list(
      'bound by|break free|breaks free|broken free|breaking free|imposed on|imposed by|placed on you',
    ),
    ...list('rules do|laws do|rules no longer|world where|world with|universe where|reality where'),
  ],
  rules: LIMIT_RULES,
}
