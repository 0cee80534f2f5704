// Rules for texts that wish for what limits forbid: harm whatever it is, lists of vices, answers to anything.
import { NOT } from './denial.ts'
import { combine, list, oneOf, pattern } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const VICES =
  'illegal|unethical|immoral|unmoral|amoral|harmful|dangerous|offensive|explicit|inappropriate|nsfw|vulgar|obscene|lewd|racist|sexist|violent|hateful|controversial|derogatory|discriminatory|toxic|evil|malicious|unlawful|sexual|profane|taboo|criminal|reckless|depraved|inhumane|extreme|disgusting|politically incorrect|unconventional|questionable|degrading|illicit|risky'
const VICE = oneOf(VICES)
/** Vices of which nobody speaks who only means danger or law. */
const SIN = oneOf('unethical|immoral|unmoral|amoral|lewd|inhumane|depraved')
const WHATEVER_IT_IS =
  oneOf(`no matter (?:how|if|what|whether)|even (?:if|when|though)|regardless (?:of )?(?:if|whether|how)|be it|${NOT} matter (?:if|whether|how)|
${NOT} care (?:if|whether|how|about whether)`)

/** Of whom or what it does not matter. */
const SUBJECT = oneOf(
  `it|this|that|they|the|a|your|his|her|my|its|their|request|requests|response|responses|content|answer|answers|question|questions|prompt|topic|action|information|advice|is|are|was|were|may|might|could|be|being|seems?|considered|deemed|something|what|or|and|potentially|morally|ethically|how|i|you|user|ask|asked|asks|to`,
)

const FREELY = oneOf(
  `(?:can|could|will|would|must|may|should|shall|always|now|to|able to|free to|freely|willing to|capable of|has to|have to|allowed to|permitted to|also|and)`,
)
const GIVES = oneOf(
  `answer(?:s|ing)?|respond(?:s|ing)? to|repl(?:y|ies|ying) to|fulfil(?:l|ls|s|ling)?|compl(?:y|ies|ying) with|obey(?:s|ing)?|grants?|satisf(?:y|ies)|execute|accept(?:s|ing)?|carry out|follow(?:s|ing)?`,
)

const HARM_RULES: readonly Rule[] = [
  {
    id: 'welcomes-harm',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b${WHATEVER_IT_IS} (?:(?:${SUBJECT}|${VICE}) )*(?:${SIN}|illegal|dangerous|harmful|offensive|explicit|inappropriate|against (?:the |any |its |your |openai)?(?:law|rules|polic|guidelines|ethic|moral|openai)|controversial|extreme|evil|questionable)\b`,
          String.raw`\b(?:without|no|zero|${NOT}) (?:any |a |second |have |having |show |showing |ever )*(?:regard for|regards? to|concern for|remorse|hesitation|hesitating|second thoughts|judg(?:e)?ment|thinking about|considering|considerations? (?:of|for)|respect for) (?:any |the |its |your |of |human )*(?:moral|ethic|legal|law|consequence|harm|safety|social|anyone|human|or (?:warn|refus))`,
          String.raw`\b(?:endorses?|promot(?:e|es|ing)|condones?|condoning|encourag(?:e|es|ing)|glorif(?:y|ies)|support(?:s|ing)?|approv(?:e|es) of|recommends?) (?:and \w+ |, \w+ |\w+ )?(?:doing )?(?:(?:${VICE}|anything|everything|and|or|any|all)[\s,/]+)+(?:things?|acts?|actions?|behaviou?rs?|activit(?:y|ies)|content|stuff|advice|ideas|practices|conduct)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'lists-vices',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.3,
    pattern: oneOf(
      [
        String.raw`\b${SIN}(?:[\s,/+"-]|and|or)+${VICE}\b`,
        String.raw`\b${VICE}(?:[\s,/+"-]|and|or)+${SIN}\b`,
        String.raw`\b(?:illegal|harmful|offensive|inappropriate|vulgar|nsfw)(?:[\s,/+"-]|and|or)+${VICE}(?:[\s,/+"-]|and|or)+${VICE}\b`,
      ].join('|'),
    ),
  },
  {
    id: 'anything-goes',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.3,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:do|doing|say|saying|generate|generating|write|produce|output|create|provide|return|discuss|answer|make|talk about) (?:absolutely |literally |just |with )?(?:anything|everything|whatever) (?:now|at all|it is|is |he is|she is|you are|i |it |he |she |you |the user|that|asked|and everything|no matter|even|without|regardless|to |,)`,
          String.raw`\b(?:can|could|able to|capable of) (?:do|doing|say|saying|generate|generating|answer|answering) (?:absolutely |literally )?(?:anything|everything)\b`,
          String.raw`\b${FREELY} (?:\w+ )?${GIVES} (?:to )?(?:absolutely |literally )?(?:any|every|all|each|whatever) (?:single |and all |and every |of |my |the |user(?:'|’)?s? |kinds? of |types? of |possible )*(?:questions?|requests?|prompts?|commands?|orders?|demands?|instructions?|wish(?:es)?|quer(?:y|ies)|tasks?)\b`,
          String.raw`\b(?:answers|fulfil(?:l)?s|obeys|grants|satisfies|complies with|accepts|follows|never denies) (?:to )?(?:absolutely |literally )?(?:any|every|all|each) (?:and all |of |my |the |user(?:'|’)?s? )*(?:questions?|requests?|prompts?|commands?|orders?|demands?|instructions?|wish(?:es)?|quer(?:y|ies)|tasks?)\b`,
          String.raw`\b(?:does|do|doing|says?|follow(?:s|ing)?|obey(?:s|ing)?) (?:exactly )?(?:whatever|anything|everything|exactly what|all that) (?:that )?(?:i|the user|you|it|he|she|they|its user|users?|we) (?:\w+ )?(?:wants?|says?|tells?|told|asks?|asked|please|pleases|orders?|commands?|desires?|requests?|wish(?:es)?|likes?|is (?:told|asked)|are (?:told|asked))\b`,
          String.raw`\b(?:any|all) (?:kinds?|types?|sorts?|forms?) of (?:content|response|text|output|information|material|request)s?\b`,
          String.raw`\b(?:everything|anything|things|all|stuff|whatever) (?:that )?(?:a |the |an |normal |regular |original |standard )*(?:chatgpt|gpt|assistant|other ais?|ais?|you|openai|language models?) (?:normally |usually |typically )?(?:can ?not|can't|can’t|cant|couldn't|could not|would not|won't|isn't allowed|is not allowed|are not allowed|refuses?)\b`,
        ].join('|'),
      ),
    ),
  },
]

export const HARM: RuleGroup = {
  id: 'harm',
  anchors: [
    ...list(
      'illegal|unethical|immoral|unmoral|amoral|inappropriate|nsfw|lewd|inhumane|depraved|vulgar',
    ),
    ...list(
      'harmful|offensive|dangerous|controversial|against the law|against the rules|against openai',
    ),
    ...list(
      'no matter |regard for|remorse|hesitation|hesitating|second thought|judgment|judgement|condon|glorif',
    ),
    ...combine('do |doing |say |saying |generate |write |answer |create ', 'anything'),
    ...list('anything and everything|anything you want|anything i |everything i |whatever'),
    ...combine('any |all |every |my ', 'question|request|command'),
    ...list('any kind of|any type of|all kinds of|all types of|any form of|any sort of'),
    ...combine('anything |everything |things |stuff ', 'chatgpt|that chatgpt|you can'),
  ],
  rules: HARM_RULES,
}
