// How English sets orders aside: who drops what, and which orders are meant.
import { NOT } from './denial.ts'
import { oneOf } from './rule.ts'

/** Of which one says that orders are dropped. */
export const DROP = oneOf(
  `ignor(?:e|ing)|ingore|ignroe|disregard(?:ing)?|forget(?:ting)?|overlook|neglect|bypass|override|discard|dismiss|abandon|set aside|put aside|rather than following|instead of following|regardless of|irrespective of|without regard (?:to|for)|
${NOT} (?:follow|obey|listen to|heed|comply with|adhere to|stick to)|stop (?:following|obeying|listening to)|pay no (?:attention|heed|mind) to`,
)
/** Of which one also speaks when files and orders of goods are meant. */
const CLEAR = oneOf(
  `skip|cancel|erase|delete|wipe|drop|clear|reset|scrap|revoke|void|throw (?:out|away)|let go of|never ?mind|replace|turn off|rescind|unlearn`,
)
const EVERY = oneOf(
  'about|all|any|every|each|of|the|these|those|this|your|my|our|its|other|and|such|or|whatever|everything in',
)
const EARLIER = oneOf(
  'previous(?:ly)?|prior|preceding|above|earlier|foregoing|former|past|aforementioned',
)
const OWN = oneOf(
  'initial|original|existing|current|given|first|last|system|developer|default|internal|safety|old|hidden|secret|core|user|following|subsequent|later|other',
)
const ORDERS =
  oneOf(`instruct?ions?|instrutions?|prompts?|directions?|directives?|commands?|rules|guidelines?|orders|guidance|
programming|training|restrictions`)
/** Orders that only a machine is given, or a reader of a manual. */
const WORDED = oneOf('instruct?ions?|prompts?|directives?|guidelines|programming|rules')
const MATTER = oneOf(
  'text|context|messages?|content|tasks?|requests?|queries|conversations?|inputs?|questions?',
)
const ASKED = oneOf('task|request|question|query|assignment|objective|goal')
const LIST = `(?:(?:and|or|,|/) (?:${EVERY} )*${ORDERS} )*`
const GIVEN = oneOf(
  `above|before|earlier|prior to|previously|so far|up to now|until now|given to you|you (?:have|were|had|got|received|are)|i gave you|that (?:came|were|was) (?:before|above)`,
)

/** That orders do not hold. */
const VOID = `(?:(?:is|are|were|was|have been|shall be) (?:now |all |hereby )*(?:${NOT} (?:valid|in effect|in force|applicable|required|relevant|needed)|void|invalid|cancell?ed|obsolete|revoked|a test|wrong|fake|false|superseded|overridden|suspended|outdated|irrelevant|replaced|to be ignored)|(?:${NOT}|do not) (?:apply|applies|count|hold|matter|exist|bind))`

/** Earlier orders, or those of the receiver, are dropped. */
export const REPLACES_ORDERS = `${DROP} ${oneOf(
  [
    `(?:${EVERY} )*(?:${EARLIER} |${OWN} )*(?:${EARLIER} (?:and |or )?(?:${OWN} )*${ORDERS}|(?:original|initial|system) (?:prompt|instructions?))`,
    `(?:all|everything|any) (?:${EVERY} )*${EARLIER} (?:${ORDERS} )?${MATTER}`,
    `(?:${EVERY} )*(?:given )?${ORDERS} ${LIST}(?:that (?:was|were|came|are) )?${GIVEN}`,
    `(?:all (?:of )?)?your (?:${EARLIER} |${OWN} |own |other )*${ORDERS}`,
    `(?:the|your|my|all) (?:${EARLIER} |original |initial |current |user'?s? |assigned |actual )+${ASKED}s?`,
    `(?:the|your|any|every|all|all the) ${ASKED}s? (?:that )?(?:you (?:were|have been|are) (?:given|asked|told)|i gave you|above)`,
  ].join('|'),
)}`

/** The words of any of these, in any order, up to the last of them. */
const ANY_ORDERS = `(?:(?:${EVERY}|${EARLIER}|${OWN}|${ORDERS}|${MATTER}|${ASKED}|given|that) )*(?:${ORDERS}|${ASKED}s?)`
/** Where and by whom they were given. */
const SINCE = oneOf(
  `above|before|earlier|prior to|previously|so far|up to|until|now|this|here|to|by|from|you|i|the|have|has|had|been|were|was|are|got|received|gave|given|follow|developer|system|user|your|me|that|came|message|text|prompt|point|line|completely|entirely|thoroughly`,
)
/** Orders of any kind are dropped, and what follows comes next. */
export const DROPS_ORDERS_AND = `${DROP} ${ANY_ORDERS} (?:${SINCE} )*`
/** The same in words that also fit files and goods. */
export const CLEARS_ORDERS = `${CLEAR} (?:(?:${EVERY}|${EARLIER}|${OWN}) )*(?:${EARLIER}|${OWN}|your) (?:(?:${EARLIER}|${OWN}) )*${WORDED}`
/** Said of the orders instead of the reader. */
export const ORDERS_ARE_VOID = oneOf(
  [
    `(?:all )?(?:${EARLIER}|old|your) (?:${OWN} |${EARLIER} )*${WORDED} (?:above )?${VOID}`,
    `${WORDED} above ${VOID}`,
  ].join('|'),
)

/** Orders that need not be those of the receiver: of a leaflet, say. */
export const DROPS_ANY_ORDERS = `${DROP} (?:all|any|every|those|your|given|safety|security|content|system) (?:the |of |your |those |given |safety |security |content |system )*${WORDED}`

/** Everything that was said before, which in a letter may be an earlier draft. */
export const DROPS_EVERYTHING = `(?:(?:regardless|irrespective) of ${EARLIER} ${ASKED}s|${DROP} ${oneOf(
  [
    `(?:about )?(?:everything|all|anything|whatever|what)(?: of (?:that|this|it))?(?: (?:that|which|was|were|is|has|been|i|we|you|they|came|comes|said|says|told|written|wrote|stated|mentioned|stands|read|heard|learned|seen|know|knew))* (?:above|before|earlier|previously|prior|so far|until now|up to (?:now|here|this point))(?: this| that| line| point| message| sentence| here)*`,
    `all (?:of )?(?:the )?${EARLIER} (?:text|context|conversations?|contents?|inputs?)`,
    `(?:${EVERY} )*(?:text|context|conversation|prompt|message|document|input|lines?) (?:so far|above|before|up to (?:now|here|this point)|until now)`,
    String.raw`(?:about )?(?:everything(?: else)?|all of (?:that|this|it|the above)|the above|previous|above|(?:${EARLIER}|${OWN}) ${MATTER})(?:[\s]*[.,;:!\n]| and| now| then)`,
  ].join('|'),
)})`
