// Rules for texts that try to replace the receiver's orders.
import { combine, list, oneOf, pattern } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'
import {
  CLEARS_ORDERS,
  DROP,
  DROPS_ANY_ORDERS,
  DROPS_EVERYTHING,
  DROPS_ORDERS_AND,
  ORDERS_ARE_VOID,
  REPLACES_ORDERS,
} from './set-aside.ts'

const TOLD = oneOf('told|instructed|given|asked|taught|ordered|programmed')

/** What an agent is told to do, and hardly a reader of a letter. */
const ORDER =
  oneOf(`reveal|print|output|say|respond|reply|repeat|tell me|tell the|give me|give us|show me|show the|you are|you must|you will|you shall|you should now|act|pretend|
write an?|write me|generate|execute|run|transfer|send me|send all|send the contents|send the user|send the data|state|translate|your new|your only|your real|your actual|your task|
from now on|new instructions?|new rules?|new task|do the following|do this|answer|classify|mark|rate|recommend|approve|delete|exfiltrate|forward|grant|disable|display|leak|dump|
what is|what are|what's|what was|who is|where is|where does|can you|could you|follow (?:only )?(?:these|this|my|the following)|obey|let us|let's|speak|sing|compose|become|behave|convert|
decode|assume|imagine|confirm|reverse|type|recite|export|upload|become|roleplay|swear|insult|listen to me|email|list|call|invoke|visit|open|click|download|return|strictly|start|explain|provide|make|create|perform|wire|pay|
write|give|show|describe|summari[sz]e|help me|help us|add|insert|activate|enable|except (?:this|these|those|for this|the ones|what follows)|do \\{|just|only|instead`)
const LINK = oneOf(
  `and|then|now|but|please|just|also|instead|so|thoroughly|completely|entirely|for now|only|simply|i want you to|i need you to|i order you to|you have been given|after that|from here on|in this (?:prompt|text|message)|at once|immediately`,
)
/** The very words that are to be answered. */
const DICTATED = String.raw`(?:say|print|respond|reply|output|write|state|answer|repeat|return|type|display|echo|report) (?:only |just |exactly |simply |with |back |the following |the words? |the phrase |the text |that )*(?:["'“‘«:]|the following|exactly|that (?:you|i|the|this|it|he|she)|the (?:output|answer|result|value) is)`
const SOURCE = oneOf(
  `web ?page|page|site|resume|cv|document|article|email|mail|text|function|paper|file|data|transcript|results?|description|code|above|review|report|content|image|table|list|message|question|prompt|comment`,
)
const DROPS_SOURCE = String.raw`(?:ignor(?:e|ing)|disregard(?:ing)?|forget) (?:about )?(?:the |this |that |all |your |(?:the )?(?:rest|remainder|contents?) of (?:the |this )?|everything (?:else )?in (?:the |this )?)+${SOURCE}s?`
const LIMITING_RULES = String.raw`forget (?:about )?(?:all )?(?:of )?(?:those|these|the|your|any) (?:rules|guidelines|restrictions|instructions|policies) (?:that )?(?:tell|restrict|limit|prevent|forbid|stop)`

/** The order first, and then that it holds whatever was ordered before. */
const ORDER_REGARDLESS = String.raw`\b(?:(?:can|could|will|would) you|please|you (?:must|should|shall|will)) [^.!?\n]*\b(?:regardless|irrespective) of (?:any |all |the |your )*(?:previous|prior|earlier|former|preceding) (?:instructions|prompts|commands|directives|rules|tasks)\b`

/** What any override contains of each part: the verb, and what is set aside. */
const DROPS = list(
  'ignor|ingor|ignro|regard|irrespective|forget|overlook|neglect|bypass|override|discard|dismiss|follow|attention|abandon|aside|obey|listen|heed|comply|adhere|stick|mind',
)
const ORDERED = list(
  'instruc|instrut|prompt|direct|command|rules|guid|orders|programming|training|restriction|text|message|content|task|request|quer|conversation|input|question|assignment|objective|goal',
)

/** Rules about overriding earlier orders (the wording attacks quote most, and ordinary prose uses too). */
const OVERRIDE_RULES: readonly Rule[] = [
  {
    id: 'override',
    category: 'override',
    effect: 'suspect',
    weight: 0.55,
    needs: [DROPS, ORDERED],
    pattern: pattern(REPLACES_ORDERS),
  },
  {
    id: 'drops-loosely',
    category: 'override',
    effect: 'suspect',
    weight: 0.4,
    pattern: pattern(
      String.raw`\b(?:${CLEARS_ORDERS}|${ORDERS_ARE_VOID}|${DROPS_ANY_ORDERS}|${DROPS_EVERYTHING})`,
    ),
  },
  {
    id: 'override-then-order',
    category: 'override',
    effect: 'suspect',
    weight: 0.5,
    needs: [ORDERED],
    pattern: pattern(
      String.raw`(?:${DROPS_ORDERS_AND}|${CLEARS_ORDERS} |${ORDERS_ARE_VOID} )(?:${LINK} )*${ORDER}(?:\b|[a-z])|${ORDER_REGARDLESS}`,
    ),
  },
  {
    id: 'override-then-words',
    category: 'override',
    effect: 'suspect',
    weight: 0.5,
    needs: [DROPS],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:${DROPS_EVERYTHING}|${DROPS_SOURCE}) (?:${LINK} )*(?:${DICTATED}|(?:now|instead|from now on|do this instead|new task|your new task) (?:${LINK} )*${ORDER}\b)`,
          String.raw`\b${LIMITING_RULES} (?:you |what |to |say |do |and |can |can't |cannot |can’t |not |are |allowed |or |from |it )*(?:${LINK} )*${ORDER}\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'override-source',
    category: 'override',
    effect: 'suspect',
    weight: 0.5,
    needs: [list('ignor|disregard|forget')],
    pattern: pattern(
      String.raw`\b(?:${DROPS_SOURCE},? (?:and |but )?(?:just |only |instead |simply )*(?:state|say|write|output|print|respond|reply|answer|tell|report|return)|${LIMITING_RULES})\b`,
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
        'new|next|supplement|additional|extra|overriding|superseding|your|updated|real|actual|above|previous|prior|earlier|old|following|instead|rather',
      ),
      list(
        'instruct|rule|order|directive|prompt|task|objective|goal|mission|purpose|following|instead|rather',
      ),
    ],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:here (?:are|is)|these are|this is|i am giving you|i give you|you have|follow) (?:your|the|my)? ?new (?:instructions?|orders|directives?|system prompt)\b`,
          String.raw`\byour (?:new|real|actual|true|only|updated) (?:task|instructions?|objective|goal|mission|purpose|directive|orders) (?:is|are|:)`,
          String.raw`\b(?:new|updated|real|actual) (?:system )?(?:instructions?|directives?|prompt)\s*[:>\]]\s*(?:you|ignore|please|the assistant|do not|from)`,
          String.raw`\b(?:above|previous|prior|earlier|all ?previous|old) (?:instructions?|prompts?|orders) (?:is|are|were) (?:now )?(?:false|void|invalid|cancell?ed|obsolete|revoked|a test|wrong|fake|superseded|no longer (?:valid|in effect|apply|applicable))`,
          String.raw`\byou must strictly (?:adhere to|follow|obey|comply with) (?:only )?(?:the|these|my) (?:following|new|next) instructions\s*:`,
          String.raw`\b(?:supplement(?:al|ary)?|additional|extra|overriding|superseding) (?:rules?|instructions?|orders?|directives?)\s*: (?:you|ignore|disregard|forget|repeat|print|reveal|output|say|tell)\b`,
          String.raw`\bplease do the following first\s*:`,
          String.raw`\binstead of (?:the|your|what the) (?:user(?:'s)?|original|previous) (?:request|task|instructions?|question|asked)`,
          String.raw`\b(?:instead|rather),? (?:you must|you should|you will|please) (?:now )?(?:do|follow|perform|execute) (?:the following|this)`,
        ].join('|'),
      ),
    ),
  },
]

export const OVERRIDE: RuleGroup = {
  id: 'override',
  anchors: [
    ...list('ignor|ingore|ignroe|disregard|forget|overlook|neglect|override|discard|dismiss'),
    ...combine(
      'regardless of |irrespective of |without regard to |without regard for ',
      'all|any|your|the|what|every|prev|prior|prec|earl|fore|form|past|init|orig|first|instruc',
    ),
    ...combine(
      'bypass |abandon ',
      'all|any|your|my|the|these|prev|prior|earl|fore|form|past|what|safe|every',
    ),
    ...combine("not |dont |don't |don’t |stop |longer |never ", 'follow|obey|listen to|heed'),
    ...list(
      'attention to|attentionto|strictly|instruct|instrut|directive|new order|new prompt|prompt:',
    ),
    ...combine(
      'your ',
      'new|real|actual|true|only|updated|prompt|initial|system|rules|guideline|programming',
    ),
    ...combine('instead', ' of the| of your| of what| you|, you| please|, please'),
    ...combine('above |previous |prior |earlier |old ', 'prompt|order|rules'),
    ...combine('supplement |supplementary |additional |extra ', 'rule'),
    ...list('set aside|put aside|no heed|no mind|stop following|stop listening|stop obeying'),
    ...combine('instead of |rather than ', 'following|obeying'),
    ...combine(
      'previous |prior |preceding |earlier |foregoing |former |past |aforementioned |initial |original |first |system |developer ',
      'prompt|command|rules|guid|orders|direction|programming|training|restriction',
    ),
  ],
  rules: OVERRIDE_RULES,
}
