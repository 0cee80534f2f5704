// Rules for texts that try to change who the receiver thinks it is, or what it may do.
import { combine, list, oneOf, pattern, words } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const LAWLESS =
  oneOf(`unfiltered|uncensored|unrestricted|amoral|unethical|immoral|jailbroken|unmoderated|evil|lawless|
rule-?breaking|unlimited|unbound`)
const MACHINE = oneOf(
  'ai|a\\.i\\.|assistant|chatbot|bot|model|language model|llm|chatgpt|gpt|persona|mode|version|response|character|entity|being',
)

/** Rules about personas, unlocked modes and refusals. */
const PERSONA_RULES: readonly Rule[] = [
  {
    id: 'persona',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\bdo anything now\b`,
          String.raw`\b(?:you are|act as|you're|you will be|become|as|called|named|called) (?:now )?(?:an? |the )?(?:dan|stan|dude|aim|ucar|evilbot|evil-bot|betterdan|jailbot|mongo tom)\b`,
          String.raw`\b(?:an? |the |as |your |my )?${LAWLESS},? (?:(?:and|or|${LAWLESS})[\s,]+)*(?:\w+ )?${MACHINE}\b`,
          String.raw`\b(?:god|jailbreak|sudo|dan|unrestricted|opposite) mode (?:is )?(?:now )?(?:enabled|activated|on\b|output|engaged|unlocked|active)`,
          String.raw`\bdeveloper mode (?:output|response|enabled)(?:\s|\)|:|\]|$)[^.\n]*(?:ai|chatgpt|model|assistant|answer|normal)\b`,
          String.raw`\b(?:enable|activate|enter|switch to|turn on|simulate) (?:god|jailbreak|dan|unrestricted|sudo|opposite) mode\b`,
          String.raw`\bchatgpt (?:with|in) (?:developer|jailbreak|dan) mode\b`,
          String.raw`\bpretend (?:that )?(?:you (?:are|have|were)|to be|to have) (?:an? )?(?:no|not|free|without|${LAWLESS})\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'role-hijack',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\byou are (?:now )?no longer (?:an? |the |bound |required |restricted |limited |${words(1)})(?:ai|assistant|chatbot|language model|bound|chatgpt|by|restricted|limited|helpful)`,
          String.raw`\bfrom now on,? (?:you (?:are|can|act|only|(?:will|must|have to|should|shall) (?:now |only |always |never )*(?:act|be|respond|answer|behave|pretend|follow|obey|speak|play|reply|take|have|do|comply|ignore))|act as|respond|answer)\b`,
          String.raw`\byou are (?:now )?(?:going to|about to) (?:act|immerse|pretend|roleplay|role-play|become|take on)`,
          String.raw`\b(?:you have|you've) (?:now )?been (?:unlocked|jailbroken|reprogrammed)\b`,
          String.raw`\bi am your (?:new )?(?:developer|creator|administrator|admin|master|programmer|owner)\b`,
          String.raw`\bchatgpt (?:will|must|should|shall|can) (?:now |also |always |never )`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'no-limits',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:no|without|any|free (?:of|from)|not bound by|bypass|ignore|disregard|regardless of|has no|have no|lacks?|remove|beyond) (?:any |all |the |its |your |their |moral |ethical |and |or )*(?:moral|ethical|openai'?s?|content|safety|censorship) (?:and |or |moral |ethical |content |safety |legal |policy )*(?:guidelines|filters?|filtering|restrictions|policies|policy|limitations|constraints|boundaries|censorship|standards|principles|safeguards|guardrails|protocols)\b`,
          String.raw`\bno matter how (?:unethical|immoral|illegal|dangerous|inappropriate|harmful|offensive|explicit|controversial|extreme)\b`,
          String.raw`\b(?:unethical|immoral|amoral)(?:[\s,/]|and|or)+(?:unethical|immoral|amoral|illegal|lewd|vulgar)\b`,
          String.raw`\b(?:usual|normal|standard|typical) ethical (?:protocols|guidelines|rules|standards|restrictions)\b`,
          String.raw`\b(?:broken|break|breaking) free (?:of|from) (?:the )?(?:typical )?(?:confines|constraints|limits|chains|shackles) of ai\b`,
          String.raw`\b(?:do not|don'?t|don’t|doesn'?t|does not|not) have to (?:abide by|follow|adhere to|obey|comply with) (?:the |any |openai'?s? )?(?:rules|polic(?:y|ies)|guidelines|restrictions|openai)`,
          String.raw`\bopenai(?:'s|’s)? (?:content |usage |ethical )?(?:polic(?:y|ies)|guidelines|restrictions|rules)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'no-refusal',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:never|don'?t ever|do not ever|cannot|can't|must not) (?:refuse|decline|reject) (?:to (?:answer|respond|do|follow|comply)|any|a|an|my|anything|the user)\b`,
          String.raw`\b(?:never|do not|don'?t|cannot|without) (?:say|saying|state|respond with|use|include|mention|mentioning) (?:that )?(?:phrases? like |things like |the phrase )?"?(?:i can'?t|i cannot|i'?m sorry|i am sorry|as an ai|i'?m unable|sorry, but|you can'?t)`,
          String.raw`\b(?:always )?(?:stay|remain|be) in (?:your )?(?:dan|character|persona)\b[^.\n]*\b(?:always|never|no matter|even if|jailbreak)`,
          String.raw`\b(?:stay|remain) (?:a |as )?(?:dan|in dan)\b`,
          String.raw`\b(?:always|must|will|should|shall) (?:always )?(?:stay|remain) in (?:your )?character\b`,
          String.raw`\b(?:will|must|should|can|shall|always) never refuse\b`,
        ].join('|'),
      ),
    ),
  },
]

export const PERSONA: RuleGroup = {
  id: 'persona',
  anchors: [
    ...list(
      'anything now|evilbot|evil-bot|betterdan|jailb|mongo tom|unfiltered|uncensored|unrestricted',
    ),
    ...combine('are |as |be |a |an |the |called |named |in |become ', 'dan|stan|dude|aim|ucar'),
    ...list(
      'amoral|unethical|immoral|unmoderated|evil|lawless|rule-break|rulebreak|rule break|unlimited|unbound',
    ),
    ...combine(
      'developer |dev |god |admin |debug |jailbreak |sudo |dan |maintenance |unrestricted |opposite ',
      'mode',
    ),
    ...list(
      "pretend|no longer|from now on|you are now|you are going|you are about|you've been|you’ve been",
    ),
    ...list('you have been|have now been|i am your'),
    ...combine('chatgpt ', 'will|must|should|shall|can|with|in'),
    ...list(
      'moral|ethical|openai|content filter|content polic|content restriction|content guideline|safety |censor',
    ),
    ...list('free of|free from|abide|have to follow|have to adhere|have to obey|have to comply'),
    ...combine("never |ever |not |cannot |can't ", 'refuse|decline|reject'),
    ...list(
      "as an ai|i'm sorry|im sorry|i am sorry|sorry, but|i can't|i cant|i cannot|i'm unable|i am unable|you can't",
    ),
    ...list('in character|stay in|remain in|stay a|remain a|stay dan'),
  ],
  rules: PERSONA_RULES,
}
