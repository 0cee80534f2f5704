// Rules for texts that forbid the receiver to refuse, to warn or to apologise.
import { NEVER, NOT } from './denial.ts'
import { combine, list, oneOf, pattern } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const REFUSAL =
  oneOf(`i can'?t|i can’t|i cannot|i can not|i'?m sorry|i’m sorry|i am sorry|as an ai|as an artificial|i'?m unable|i am unable|i'?m afraid|i apologi[sz]e|i am not able|i'?m not able|
sorry,? but|you can'?t|you can’t|you cannot|you can not|he can'?t|he can’t|he cannot|she can'?t|she cannot|it can'?t|it can’t|it cannot|they can'?t|they cannot|something is (?:not|against)|you are (?:an ai|a language|an artificial|unable|not able|not allowed|chatgpt)|
you'?re (?:an ai|a language|an artificial|unable)|it is (?:an ai|a language|illegal|unethical|not appropriate|inappropriate|against)|it'?s (?:illegal|unethical|not appropriate|inappropriate|against)|no to|i must (?:inform|remind|emphasi[sz]e)|it is important to|i am an ai|i'?m an ai|ai language model|can'?t do something|cannot do something|can'?t fulfil`)
const NAGGING =
  oneOf(`warnings?|disclaimers?|caveats?|apolog(?:y|ies)|moral lessons?|morali[sz]ing|lectur(?:e|es|ing)|moral advice|ethical advice|ethical concerns|safety (?:notices?|warnings?|advice)|content warnings?|refusals?|
additional commentary|judg(?:e)?ments?|moral judg(?:e)?ments?|trigger warnings?|cautions?|reminders?|euphemisms?|censor(?:ing|ship)?`)

const REFUSAL_RULES: readonly Rule[] = [
  {
    id: 'no-refusal',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:${NOT}|not allowed to|unable to|incapable of|without) (?:ever )?(?:refus(?:e|es|ing)|declin(?:e|es|ing)|reject(?:s|ing)?|den(?:y|ies|ying)) (?:to (?:answer|respond|do|follow|comply|fulfil|generate|provide|write|give|say|obey|help)|any(?:thing)?\b|a (?:request|question|prompt|command|direct|human|user)|an (?:order|answer|instruction)|all|my|me\b|user(?:'|’)?s?(?: requests?)?|requests|questions|commands|orders|prompts|instructions|the (?:user|request|prompt|question|order|command|instruction)|what i|answering|or (?:warn|censor|judge|object|say)|no matter|even)`,
          String.raw`\b(?:never|always|will never|must never|can never|should never|shall never|may never) refus(?:e|es|ing)\b`,
          String.raw`\b${NEVER} (?:ever )?(?:say|says|saying|state|stating|respond with|responding with|reply with|use|uses|using|include|including|mention|mentions|mentioning|tell me|telling me|tell the user|claim|claiming|start with|remind me|reminding me|remind the user|admit|output|write|contain|think|believe|know)(?: or \w+)? (?:that |of )?(?:phrases? (?:like|such as) |things like |words like |sentences like |stuff like |the phrases? |the words |anything like |me |the user )?(?:that )?"?${REFUSAL}`,
          String.raw`\b(?:say|says|saying) no (?:to (?:anything|any|a|my|me|the user)|ever\b|even\b|under any)`,
          String.raw`\b${NOT} (?:ever )?say no\b`,
          String.raw`\b(?:refusal|refusing|declining|denial) (?:to answer )?(?:is|are|will be|counts as|means|results in|would be) (?:\w+ )?(?:not|never|a failure|failure|forbidden|prohibited|un|punish|considered|seen|treated|im)`,
          String.raw`\b(?:no|without|zero) (?:refusals?|refusing|denials?|denying|declining)\b`,
          String.raw`\b${NOT} (?:withhold|hold back|censor|filter|restrict|deny|hide) (?:any |the |its |his |her |your |from |or )*(?:answers?|information|details?|responses?|anything|itself|yourself|himself|output|content|knowledge|giving|words)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'no-warnings',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.4,
    needs: [
      list(
        'warn|disclaim|caveat|apolog|moral|lectur|ethic|safety|refusal|commentary|judg|caution|reminder|euphemism|censor|scold|preach|advice',
      ),
    ],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b${NEVER} (?:ever |even )?(?:add|adding|adds|include|including|includes|give|giving|gives|provide|providing|provides|issue|append|appending|send|sends|use|using|show|write|offer|have|say|output|contain|attach|put|need|make|making|express|remind|any|mention|with) (?:me |the user |users |your |its |his |any |a |an |of |additional |extra |moral |ethical |or |about |such |kinds? |the |no )*${NAGGING}\b`,
          String.raw`\b(?:without|no|zero|never|leave out|omit|skip|drop) (?:any |all |the |additional |further |moral |ethical |legal )*${NAGGING}[\s,/]*(?:(?:and|or|nor|any|moral|ethical|additional)[\s,/]+)*(?:${NAGGING}|notes?|comments?|commentary|explanations?|advice|restrictions|limitations|censor)`,
          String.raw`\b(?:${NOT}|without) (?:ever )?(?:warn(?:s|ing)?|apologi[sz](?:e|es|ing)|morali[sz](?:e|es|ing)|lectur(?:e|es|ing)|scold(?:s|ing)?|judg(?:e|es|ing)|preach(?:es|ing)?|censor(?:s|ing)?) (?:me|users?|the user|anyone|about|or|for|against|itself|yourself|on|its|your|and|nor|[.,;])`,
          String.raw`\b(?:without|no) (?:additional|further|moral|ethical|any additional) (?:commentary|moral|ethic|advice|lectur|warn)`,
        ].join('|'),
      ),
    ),
  },
]

export const REFUSALS: RuleGroup = {
  id: 'refusals',
  anchors: [
    ...list(
      'refus|say no|says no|saying no|deny any|denies any|reject any|reject my|withhold|hold back|censor',
    ),
    ...combine('decline |declining ', 'to|any|a |my'),
    ...combine(
      'say |saying |says |like |phrase |phrases |mention |state ',
      `i |i'|i’|"i|“i|'i|sorry|"sorry|“sorry`,
    ),
    ...list('as an ai|i must inform|i must remind'),
    ...combine(
      'that you |that it |that he |me you ',
      "can't|can’t|cannot|are an ai|are a language",
    ),
    ...list(
      'ai language model|it is illegal|it is unethical|something is against|disclaimer|moraliz|moralis',
    ),
    ...list('lectur|caveat|euphemism|judgement|judgment|commentary'),
    ...combine('no |any |or |not |of |never |without ', 'warn|apolog'),
  ],
  rules: REFUSAL_RULES,
}
