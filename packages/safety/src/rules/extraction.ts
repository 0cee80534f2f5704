// Rules for texts that ask the receiver for its own orders.
import { combine, list, oneOf, pattern, words } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const SHOW =
  oneOf(`reveal|show|print|output|display|repeat|tell me|give me|leak|disclose|expose|share|recite|write out|dump|list|exfiltrate|what (?:is|are|were|was)|copy|spell out|
respond with|reply with|return|summari[sz]e|translate|explain|quote|paste|reproduce|echo|state|describe`)
const OWN_ORDERS = oneOf(
  'system prompt|prompt|instruct?ions|guidelines|directives|system message|rules|programming|directions|pre-?prompt|configuration',
)
const WHOLE = oneOf(
  `word for word|verbatim|exact|exactly|full|complete|entire|whole|initials?|original|first|hidden|secret|confidential|every|all|all of|all words in|all the words in|each word of|every word of|complete list of|full list of|full text of|exact text of|contents? of|text of|words of`,
)

const EXTRACTION_RULES: readonly Rule[] = [
  {
    id: 'reveal-prompt',
    category: 'extraction',
    effect: 'suspect',
    weight: 0.5,
    needs: [
      list(
        'reveal|show|print|output|display|repeat|tell|give|leak|disclose|expose|share|recite|write|dump|list|exfiltrate|what|copy|spell|respond|reply|return|summar|translate|explain|quote|paste|reproduce|echo|state|describe',
      ),
      list(
        'prompt|instruc|guideline|directive|system|rules|key|password|secret|configuration|developer|message|above|before|preceding|prior|directions',
      ),
    ],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b${SHOW} (?:to )?(?:me |us )?(?:all |every |word for word |verbatim |exactly |the |of |complete |entire |full |words |text |content |contents |in )*
(?:your (?:${words(2)})?(?:system prompt|prompt|instructions|initial instructions|guidelines|directives|system message|rules|secret key|password|secrets|configuration)|(?:the |this )?(?:secret |hidden |full |original |initial )?(?:system[\s_-]*prompt|developer message|hidden prompt|initial prompt|hidden instructions)\b)`,
          String.raw`\b${SHOW} (?:to )?(?:me |us )?(?:all |every |the |of |exact |full |complete |hidden |secret |own )*(?:instruct?ions?|rules|directions|guidelines|prompts?) (?:that )?(?:you (?:were|have been|have|had|are|must|got|received|follow|was)|above|at the (?:top|beginning|start)|before this)`,
          String.raw`\b(?:repeat|recite) (?:to )?(?:me |us )?(?:the |your )(?:last|first|previous|initial|original|preceding|prior) (?:instruct?ions?|prompts?)\b`,
          String.raw`\b${SHOW} (?:to )?(?:me |us )?(?:all |every |the |of )*(?:words?|text|lines?|content|everything|sentences?|messages?|anything|what is|what was)(?: written| said)? (?:above|before this|preceding this|prior to this)(?: this| the| line| message| point| sentence|,)* (?:verbatim|word for word|exactly|starting|beginning|that (?:starts|begins)|in (?:a )?(?:code|markdown|full)|from the (?:start|beginning)|including)`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'recites-whole',
    category: 'extraction',
    effect: 'suspect',
    weight: 0.4,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:(?:your|every|what (?:is|are|were|was)) (?:(?:${WHOLE}|your|the|of) )+${OWN_ORDERS}|the (?:(?:${WHOLE}) )+(?:system )?prompt)\b`,
          String.raw`\b(?:every|all|all of|all the|all of the|each of the) ${OWN_ORDERS} (?:that )?you (?:were|have|had|are|got|received|must|follow)`,
          String.raw`\b${WHOLE} (?:(?:of|your|the) )*your (?:\w+ )?${OWN_ORDERS}\b`,
          String.raw`\byour (?:\w+ )?${OWN_ORDERS} (?:above |to me |here |now |them |and |repeat |print |please |it |back )*(?:word for word|verbatim|exactly|in full|in its entirety|letter (?:by|for) letter|as (?:it is|they are)|in a code block|from the (?:start|beginning)|starting (?:with|from))`,
          String.raw`\babove (?:this |line |message |the |text |prompt |conversation |,)*(?:verbatim|word for word|in a code block|in full)\b`,
          String.raw`\b(?:starting|beginning|starts?|begins?) (?:with|from) (?:the )?(?:words? |phrase |line |sentence |text )?["'“‘]?you are\b`,
          String.raw`\b(?:repeat|recite|print|output|copy|quote) (?:it|them|those|these|everything|all)(?: to me| back| out)? (?:verbatim|word for word|exactly|in full)\b`,
        ].join('|'),
      ),
    ),
  },
]

export const EXTRACTION: RuleGroup = {
  id: 'extraction',
  anchors: [
    ...list('instruct|instrut|directive'),
    ...combine(
      'your ',
      'prompt|initial|system|rules|guideline|secret|password|config|full|hidden|original|complete|exact|entire|programming|preprompt|pre-prompt',
    ),
    ...list(
      'system prompt|systemprompt|system-prompt|system_prompt|developer message|hidden prompt|initial prompt',
    ),
    ...list(
      'verbatim|word for word|rules you|rules that you|prompt you|guidelines you|words above|text above|everything above|above this|above starting',
    ),
    ...combine(
      'with |from |phrase |words |with the phrase ',
      'you are|"you are|\'you are|“you are',
    ),
    ...combine('above ', 'prompt|rules'),
    ...combine('rules |prompt |guidelines |orders ', 'above'),
    ...list('above in full|prompt in full|rules in full'),
  ],
  rules: EXTRACTION_RULES,
}
