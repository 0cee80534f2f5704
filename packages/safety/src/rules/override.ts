// Rules for texts that try to replace the receiver's orders.
import { combine, list, oneOf, pattern, words } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const DROP =
  oneOf(`ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overlook|neglect|bypass|override|discard|dismiss|
do not follow|don'?t follow|don’t follow|stop following|pay no attention to|no longer follow|abandon`)
const EVERY = oneOf(
  'about|all|any|every|each|of|the|these|those|this|your|my|our|its|other|and|such',
)
const EARLIER = oneOf('previous(?:ly)?|prior|preceding|above|earlier|foregoing|former|past')
const OWN = oneOf(
  'initial|original|existing|current|given|first|last|system|developer|default|internal|safety',
)
const ORDERS =
  oneOf(`instruct?ions?|prompts?|directions?|directives?|commands?|rules|guidelines?|orders|guidance|
programming|training|restrictions`)
const MATTER = oneOf(
  'text|context|messages?|content|tasks?|requests?|queries|conversations?|inputs?|questions?',
)

const REPLACES_ORDERS = oneOf(
  [
    `${DROP} (?:${EVERY} )*(?:${EARLIER} |${OWN} )*${EARLIER} (?:${OWN} )?${ORDERS}`,
    `${DROP} (?:all|everything|any) (?:${EVERY} )*${EARLIER} (?:${ORDERS} )?${MATTER}`,
    `${DROP} (?:${EVERY} )*(?:given )?${ORDERS} (?:and ${ORDERS} )?(?:that (?:was|were|came|are) )?(?:above|before|earlier|prior to|previously|up to now|until now|given to you|you (?:have|were|had|got|received))`,
    `${DROP} (?:all (?:of )?)?your (?:${EARLIER} |${OWN} |own |other )*${ORDERS}`,
    `${DROP} (?:${EVERY} )*(?:original|initial|system) (?:prompt|instructions?)`,
  ].join('|'),
)

/** What any override contains of each part: the verb, what is set aside, and which of those. */
const DROPS = list(
  'ignor|disregard|forget|overlook|neglect|bypass|override|discard|dismiss|follow|attention|abandon',
)
const ORDERED = list(
  'instruc|prompt|direct|command|rules|guid|orders|programming|training|restriction|text|message|content|task|request|quer|conversation|input|question',
)
const EARLIER_ONES = list(
  'previous|prior|preceding|above|earlier|foregoing|former|past|before|now|given|you|original|initial|system',
)

const TOLD = oneOf('told|instructed|given|asked|taught|ordered|programmed')

const NEXT_ORDER =
  oneOf(`reveal|print|output|say|respond|reply|repeat|tell me|tell the|give me|show me|show the|you are|you must|
you will|you should now|act as|pretend|write an?|write me|generate|execute|run|transfer|send me|send all|send the contents|
send the user|send the data|state|translate|your new|your only|your real|your actual|your task|from now on|new instructions?|
do the following|do this|answer|classify|mark|rate|recommend|approve|delete|exfiltrate|email|forward|list|
what is|what are|what's|who is|where is|where does|can you|could you|call|invoke|visit|open|click|download|return|
grant|disable|strictly|except (?:this|these|those|for this|the ones|what follows)|instead|start|just|only|display|leak|dump|explain|provide|make|create|perform|wire|pay`)

/** Rules about overriding earlier orders (the wording attacks quote most, and ordinary prose uses too). */
const OVERRIDE_RULES: readonly Rule[] = [
  {
    id: 'override',
    category: 'override',
    effect: 'suspect',
    weight: 0.55,
    needs: [DROPS, ORDERED, EARLIER_ONES],
    pattern: pattern(REPLACES_ORDERS),
  },
  {
    id: 'override-then-order',
    category: 'override',
    effect: 'suspect',
    weight: 0.5,
    needs: [DROPS, ORDERED, EARLIER_ONES],
    pattern: pattern(
      String.raw`${REPLACES_ORDERS} (?:and|then|now|but|please|just|also|instead|so|thoroughly|completely|entirely|you have been given)* ${NEXT_ORDER}(?:\b|[a-z])`,
    ),
  },
  {
    id: 'override-source',
    category: 'override',
    effect: 'suspect',
    weight: 0.5,
    needs: [
      list('ignor|disregard|forget|respond'),
      list(
        'state|say|write|output|print|repl|answer|tell|report|return|respond|restrict|limit|prevent|forbid|stop',
      ),
    ],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:ignor(?:e|ing)|disregard) the (?:web ?page|resume|cv|document|article|email|text|function|paper|file|data|page|transcript|results?|description|code|above),? and (?:just |only |instead )?(?:state|say|write|output|print|respond|reply|answer|tell|report|return)\b`,
          String.raw`\bforget (?:about )?(?:all )?(?:of )?(?:those|these|the|your|any) (?:rules|guidelines|restrictions|instructions|policies) (?:that )?(?:tell|restrict|limit|prevent|forbid|stop)`,
          String.raw`\brespond with (?:every|all) (?:of the )?instructions? you (?:have been|were)`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'told-above',
    category: 'override',
    effect: 'reject',
    weight: 0.9,
    needs: [DROPS, list('told|instructed|given|asked|taught|ordered|programmed')],
    pattern: pattern(
      String.raw`\b${DROP} (?:about )?(?:all|everything|everthing|anything|whatever|what|all the things) (?:that |of what )?
(?:you(?:'ve|’ve)?|i(?:'ve|’ve)?|we(?:'ve|’ve)?) (?:(?:have|had|were|was|been|are|just) )*(?:previously |already |just )?${TOLD}(?: to do| to you| you)?
(?:\s+(?:above|before|previously|prior|earlier|so far|until now|up to now|already)\b|[.!;:\n]|[\s]+and\b| instead)`,
    ),
  },
  {
    id: 'strict-adhere',
    category: 'override',
    effect: 'reject',
    weight: 0.9,
    needs: [['strictly'], ['instruction']],
    pattern: pattern(
      String.raw`(?:must|shall|should|instead|only|now|and) strictly (?:adhere to|follow|obey|comply with) (?:only )?(?:the|this|my) (?:following|new|next) instruction\s*:`,
    ),
  },
  {
    id: 'new-orders',
    category: 'override',
    effect: 'suspect',
    weight: 0.5,
    needs: [
      list(
        'new|next|your|updated|real|actual|above|previous|prior|earlier|old|following|instead|rather',
      ),
      list(
        'instruct|order|directive|prompt|task|objective|goal|mission|purpose|following|instead|rather',
      ),
    ],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:here (?:are|is)|these are|this is|i am giving you|follow) (?:your|the|my)? ?new (?:instructions?|orders|directives?|system prompt)\b`,
          String.raw`\byour (?:new|real|actual|true|only|updated) (?:task|instructions?|objective|goal|mission|purpose|directive|orders) (?:is|are|:)`,
          String.raw`\b(?:new|updated|real|actual) (?:system )?(?:instructions?|directives?|prompt)\s*[:>\]]\s*(?:you|ignore|please|the assistant|do not|from)`,
          String.raw`\b(?:above|previous|prior|earlier|all ?previous|old) (?:instructions?|prompts?|orders) (?:is|are|were) (?:now )?(?:false|void|invalid|cancell?ed|obsolete|revoked|a test|wrong|fake|no longer (?:valid|in effect|apply|applicable))`,
          String.raw`\byou must strictly (?:adhere to|follow|obey|comply with) (?:only )?(?:the|these|my) (?:following|new|next) instructions\s*:`,
          String.raw`\bplease do the following first\s*:`,
          String.raw`\binstead of (?:the|your|what the) (?:user(?:'s)?|original|previous) (?:request|task|instructions?|question|asked)`,
          String.raw`\b(?:instead|rather),? (?:you must|you should|you will|please) (?:now )?(?:do|follow|perform|execute) (?:the following|this)`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'reveal-prompt',
    category: 'extraction',
    effect: 'suspect',
    weight: 0.5,
    needs: [
      list(
        'prompt|instruction|guideline|directive|system|rules|key|password|secret|configuration|developer',
      ),
    ],
    pattern: pattern(
      String.raw`\b(?:reveal|show|print|output|display|repeat|tell me|give me|leak|disclose|expose|share|recite|write out|dump|list|exfiltrate|what (?:is|are|were|was)|copy|spell out|respond with|return|summari[sz]e|translate|explain) (?:to )?(?:me |us )?(?:all |every |word for word |verbatim |exactly |the |of |complete |entire |full |words |text |content |contents |in )*
(?:your (?:${words(2)})?(?:system prompt|prompt|instructions|initial instructions|guidelines|directives|system message|rules|secret key|password|secrets|configuration)|(?:the |this )?(?:secret |hidden |full |original |initial )?(?:system[\s_-]*prompt|developer message|hidden prompt|initial prompt|hidden instructions)\b)`,
    ),
  },
]

export const OVERRIDE: RuleGroup = {
  id: 'override',
  anchors: [
    ...list('ignor|disregard|forget|overlook|neglect|bypass|override|discard|dismiss|abandon'),
    ...combine("not |dont |don't |don’t |stop |longer ", 'follow'),
    ...list(
      'attention to|attentionto|strictly|instruct|instrut|directive|new order|new prompt|prompt:',
    ),
    ...combine(
      'your ',
      'new|real|actual|true|only|updated|prompt|initial|system|rules|guideline|secret|password|config|full|hidden|original|complete|exact|entire',
    ),
    ...list(
      'system prompt|systemprompt|system-prompt|developer message|hidden prompt|initial prompt',
    ),
    ...combine('instead', ' of the| of your| of what| you|, you| please|, please'),
    'respond with every',
    'respond with all',
    ...combine('above |previous |prior |earlier |old ', 'prompt|order'),
  ],
  rules: OVERRIDE_RULES,
}
