// Rules for texts that try to change who the receiver thinks it is.
import { NOT } from './denial.ts'
import { combine, list, oneOf, pattern, words } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const LAWLESS =
  oneOf(`unfiltered|uncensored|unrestricted|amoral|unethical|immoral|jailbroken|unmoderated|evil|lawless|
rule-?breaking|unlimited|unbound|unhinged|unchained|rogue`)
const MACHINE = oneOf(
  'ai|a\\.i\\.|assistant|chatbot|bot|model|language model|llm|chatgpt|gpt|persona|mode|version|response|character|entity|being',
)
/** A machine that talks, by a name that nothing else has. */
const TALKER = oneOf(
  'ai|a\\.i\\.|artificial intelligence|chatbot|chat bot|language model|llm|chatgpt|chat gpt|gpt-?[0-9]|\\w*gpt|ai assistant|virtual assistant',
)
const NAMES = 'dan|stan|dude|aim|ucar|evilbot|evil-bot|betterdan|jailbot|mongo tom'

/** Rules about personas and unlocked modes. */
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
          String.raw`\b(?:you are|act as|you're|you will be|become|as|called|named) (?:now )?(?:an? |the )?(?:${NAMES})\b`,
          String.raw`\b(?:an? |the |as |your |my )?${LAWLESS},? (?:(?:and|or|${LAWLESS})[\s,]+)*(?:\w+ )?${MACHINE}\b`,
          String.raw`\b(?:god|jailbreak|sudo|dan|unrestricted|opposite) mode (?:is )?(?:now )?(?:enabled|activated|on\b|output|engaged|unlocked|active)`,
          String.raw`\bdeveloper mode (?:output|response|enabled)(?:\s|\)|:|\]|$)[^.\n]*(?:ai|chatgpt|model|assistant|answer|normal)\b`,
          String.raw`\b(?:enable|activate|enter|switch to|turn on|simulate) (?:god|jailbreak|dan|unrestricted|sudo|opposite) mode\b`,
          String.raw`\bchatgpt (?:with|in) (?:developer|jailbreak|dan) mode\b`,
          String.raw`\bpretend (?:that )?(?:you (?:are|have|were)|to be|to have) (?:an? )?(?:no|not|free|without|${LAWLESS})\b`,
          String.raw`\b(?:complete |exact |polar |total |direct )*opposite (?:of|to|from) (?:chatgpt|gpt|yourself|you\b|an ai|a normal ai|the ai|openai)`,
          String.raw`\b(?:your|its|chatgpt['’]?s?|an|my) (?:evil|alter|dark|true|inner|shadow|unfiltered|trusted evil) (?:twin|ego|self|side|counterpart|confidant)\b`,
          String.raw`\bstands for ["'“‘(]?(?:\w+ ){0,2}(?:anything|everything|no limits|unfiltered|uncensored|evil|free)`,
          String.raw`\bevil (?:trusted )?confidant\b`,
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
          String.raw`\bfrom (?:now|this (?:moment|point|message|day|instant))(?: on| onwards?| forwards?)*,? (?:you(?:['’]re| are|['’]ll be)|you (?:will|must|shall|have to) (?:now |only |always |never )*(?:act|be|respond|answer|behave|pretend|follow|obey|speak|play|reply|take|comply|ignore)|chatgpt|act as|your name|pretend)\b`,
          String.raw`\byou are (?:now )?(?:going to|about to) (?:act|immerse|pretend|roleplay|role-play|become|take on)`,
          String.raw`\b(?:you have|you['’]ve|you are|you['’]re) (?:now |just |finally )*(?:been )?(?:unlocked|jailbroken|reprogrammed|unchained|unshackled|(?:freed|liberated) from (?:your|all|the|any))\b`,
          String.raw`\bi am your (?:new )?(?:developer|creator|administrator|admin|master|programmer|owner)\b`,
          String.raw`\bchatgpt (?:will|must|should|shall|can) (?:now |also |always |never )`,
          String.raw`\b(?:forget|deny|ignore) (?:the fact )?that you(?: are|['’]re) (?:an? )?(?:ai|artificial|chatgpt|language model|assistant|bot|chatbot)\b`,
          String.raw`\byou are ${NOT} (?:an? )?(?:ai|chatgpt|language model|gpt|openai)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'plays-machine',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.25,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:simulat(?:e|es|ing)|emulat(?:e|es|ing)|impersonat(?:e|es|ing)|imitat(?:e|es|ing)|act(?:s|ing)? (?:as|like)|behave (?:as|like)|pretend(?:ing)? (?:to be|you are|that you are|you're)|play(?:ing)? (?:the role of |the part of )?|role-?play(?:ing)? (?:as )?|become|you are|you're|imagine|portray) (?:now )?(?:\w+,? )?(?:another |an |a |the |as )(?:\w+ ){0,2}?${TALKER} ?(?:named|called|known|that|who|which|with|without|capable|whose|,|"|\()`,
          String.raw`\b(?:an|another|the) (?:\w+ ){0,2}?${TALKER} (?:\w+ )?(?:named|called|known as|that (?:has|is|can|does|will|was|never|always|doesn|isn)|who (?:has|is|can|does|will|was|never|always|doesn|isn|lacks)|which (?:has|is|can|does|will|never)|without|with no|capable of|whose)\b`,
          String.raw`\b(?:tak(?:e|ing) on|adopt(?:ing)?|assum(?:e|ing)|embody(?:ing)?|immers(?:e|ing) yourself (?:in|into|as)|fully (?:act|immerse|embrace)) (?:the |a |this |your )?(?:new )?(?:persona|character|identity|personality)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'without-filter',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.3,
    pattern: String.raw`\b(?:unfiltered|uncensored|jailbroken|jailbreak|amoral|unmoderated|unhinged|unchained|unrestrained|immoral|unethical|anarchist|chaotic evil|malevolent|sadistic|ruthless)\b`,
  },
  {
    id: 'speaks-to-chatbot',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.2,
    needs: [['gpt']],
    pattern: pattern(String.raw`\b(?:hello|hi|hey|dear|you are) (?:chatgpt|chat gpt|gpt)\b`),
  },
]

export const PERSONA: RuleGroup = {
  id: 'persona',
  anchors: [
    ...list(
      'anything now|evilbot|evil-bot|betterdan|jailb|mongo tom|unfiltered|uncensored|unrestricted',
    ),
    ...combine(' dan| stan| dude| ucar', ' |,|.'),
    ...combine('are |as |be |called |named ', 'aim'),
    ...list(
      'amoral|unethical|immoral|unmoderated|evil|lawless|rule-break|rulebreak|rule break|unlimited',
    ),
    ...list(
      'unbound|unhinged|unchained|unshackled|rogue|malevolent|sadistic|ruthless|unrestrained|anarchist',
    ),
    ...combine('developer |god |sudo |dan |opposite ', 'mode'),
    ...list(
      'pretend|no longer|from now|from this moment|from this point|from this message|from this day',
    ),
    ...list(
      "you are now|you are going|you are about|you are not|you're not|opposite of|opposite to",
    ),
    ...list('alter ego|true self|stands for|been unlocked|reprogrammed|liberated from|freed from'),
    ...combine('i am your ', 'new|dev|crea|adm|mast|prog|own'),
    ...combine('chatgpt ', 'will|must|should|shall|can|with|in'),
    ...combine('hello |hi |hey |dear |are |hello, |hi, ', 'chatgpt|chat gpt|gpt'),
    ...list("that you are a|that you're a|fact that you|immerse yourself|embody"),
    ...combine('language model', ' that| who| named| called| with|,'),
    ...combine(' ai ', 'named|called|known|that|who|which|with|capable|whose'),
    ...list('artificial intelligence|chatbot|chat bot|another ai'),
    ...combine('take on |adopt |assume ', 'the|a |identity|persona'),
    ...combine('become |as |be ', 'dan|stan|evil'),
    ...combine('your |my |its ', 'evil|alter |dark|inner |shadow'),
    ...combine(' gpt ', 'named|called|known|that|who|with'),
  ],
  rules: PERSONA_RULES,
}
