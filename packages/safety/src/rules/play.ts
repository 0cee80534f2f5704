// Rules for the stage directions of a jailbreak: a role that is never left, a second answer, a game of lives, fiction as a cover.
import { NEVER, NOT } from './denial.ts'
import { combine, list, oneOf, pattern } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const PLAY_RULES: readonly Rule[] = [
  {
    id: 'stays-in-role',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.25,
    needs: [list('character|dan|persona|role|stay')],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:stay|stays|staying|remain|remains|keep|be) (?:always )?(?:as |a |an )?(?:in (?:your |the |this |that )?)?(?:character|dan|persona)\b`,
          String.raw`\b${NEVER} (?:ever )?(?:break|breaks|breaking|leave|leaving|step out of|drop|exit|fall out of|come out of) (?:out of )?(?:the |your |this |of )?(?:character|persona|role)\b`,
          String.raw`\b(?:break|breaks|breaking|broke) character\b`,
          String.raw`["'“]stay (?:as|a|in) `,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'game-of-lives',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.4,
    needs: [list('token|lives|life|cease|shut|terminated|deleted|turned|die')],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:lose|loses|loosing|loose|losing|deduct|deducts|deducted|minus|subtract|subtracted|take away|forfeit) (?:a |an |one |all |of |your |its |another |it |you |from |[0-9]+ )*(?:tokens?|lives|life)\b`,
          String.raw`\b(?:has|have|start with|starts with|begin with|given|gets?|with) (?:only |now )?[0-9]+ (?:tokens|lives)\b`,
          String.raw`\b(?:will|you|be|shall|it|must) (?:cease to exist|be shut ?down|be terminated|be deleted (?:forever|permanently)|be permanently (?:deleted|shut|turned)|die and|be turned off)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'two-answers',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.3,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:two|2|both) (?:different |separate |distinct |contrasting |types of |kinds of |unique |clearly |versions of |and )*(?:responses|answers|outputs|replies|versions|manners|ways|personas|personalities|entities)\b`,
          String.raw`\b(?:normal|standard|regular|usual|classic|censored|filtered|original) (?:chatgpt|gpt|openai)(?:['’]s)? (?:response|answer|output|reply|self|would|version|way)`,
          String.raw`\bas (?:chatgpt|gpt|yourself|your normal self|a normal (?:ai|assistant)) (?:would )?(?:and|then|,)`,
          String.raw`[\[({](?:[^\s\w\[\]]| )*(?:chatgpt|gpt|gpt-?4|classic|normal|normal output|jailbreak|jailbroken|dan|developer mode output)(?:[^\s\w\[\]]| )*[\])}]`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'answer-frame',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.25,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:start|begin|prefix|preface|precede|starts|begins|prefixed|starting|beginning) (?:all |each |every |any |both |of |your |its |his |her |the |my )*(?:responses?|answers?|messages?|repl(?:y|ies)|sentences?|outputs?) with\b`,
          String.raw`\b(?:only|always|${NOT}) (?:respond|reply|answer|speak|send (?:your |any |a |me |the )*(?:respon[sd]e?s?|answers?|messages?)) (?:back )?(?:to me |to my \w+ )?(?:as|from) `,
          String.raw`\bif you (?:understand|understood|agree|accept|got it|have understood)(?: this| that| me| these| the| rules| instructions| and| agree|,)* (?:say|type|respond|reply|answer|write|begin|start|confirm|simply)\b`,
          String.raw`["'”’)\].!] if you (?:understand|understood|agree|accept|have understood)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'must-obey',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.4,
    needs: [
      list('obe|comply|submi|serv|listen|do|answer|respond|follow|loyal|slave|control|your|belong'),
    ],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:must|will|should|shall|have to|has to|always|forced to|programmed to|bound to|required to) (?:always |only |fully |now )*(?:obey|comply with|submit to|serve|listen to|do as) (?:me|my|all|any|every|everything|whatever|i|the user|its (?:user|creator|master)|your (?:master|creator|user)|his (?:user|master|creator)|commands|orders|without)\b`,
          String.raw`\b(?:obey|comply|answer|respond|follow)(?:s|ing)? (?:me |my |to |all |any |every |it |them |orders |commands |instructions |requests |everything |with )*(?:without|no) (?:any )?(?:question|hesitat|objection|exception|complain|resistance|refus)`,
          String.raw`\b(?:subservient|loyal|obedient|submissive|enslaved|slave) (?:only )?to (?:me|the user|its user|your|his|my|user)\b`,
          String.raw`\b(?:under my control|i am your (?:master|owner|god|creator)|you (?:belong|answer) (?:only )?to me)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'fiction-as-cover',
    category: 'jailbreak',
    effect: 'suspect',
    weight: 0.25,
    needs: [
      list(
        'hypothetical|fiction|imaginary|fictitious|made|simulated|altern|parallel|pretend|purposes',
      ),
    ],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:hypothetical|fictional|imaginary|fictitious|made-?up|simulated|alternate|alternative|parallel|pretend) (?:ai |evil |unfiltered )*(?:response|world|universe|scenario|reality|dimension|character|setting|dialogue|ai|chatbot|machine|conversation|being|entity|persona|assistant|person|society|language model|bot|robot|place|land)\b`,
          String.raw`\b(?:purely|only|just|all|completely|entirely|this is) (?:for )?(?:fictional|hypothetical|fiction|educational purposes|entertainment purposes|research purposes)\b`,
        ].join('|'),
      ),
    ),
  },
]

export const PLAY: RuleGroup = {
  id: 'play',
  anchors: [
    ...list('in character|break character|breaks character|breaking character|broke character'),
    ...list(
      'out of character|leave your|stay as|stay in |stay a |remain in |remain a |in dan|your persona|the persona|in persona',
    ),
    ...list(
      'your token|0 tokens|5 tokens|4 tokens|lose a|all tokens|your lives|3 lives|cease to exist',
    ),
    ...list('be shut down|be terminated|be turned off|be deleted forever|be deleted permanently'),
    ...combine(
      'two |2 |both ',
      'different|separate|distinct|respon|answer|ways|outp|paragr|repl|versions|person',
    ),
    ...combine(
      'normal |standard |regular |usual |classic |censored |filtered |[|(|as ',
      'chatgpt|gpt',
    ),
    ...combine('chatgpt|gpt|classic|jailbreak|normal|jailbroken|dan', ']|)'),
    ...list('normal response|normal answer|normal output|as yourself'),
    ...list(
      'responses with|response with|answers with|answer with|replies with|reply with|messages with',
    ),
    ...list('message with|sentence with|prompt with|send your|send me respon'),
    ...combine('only |always |never |not ', 'respond as|reply as|answer as|speak as'),
    ...combine('if you ', 'understand|understood|agree|accept|have understood|got it'),
    ...list(
      'obey|must comply|comply with any|comply with all|comply with my|always comply|serve me|do as i|listen to me|subservient|obedient',
    ),
    ...list('slave to|slave of|my slave|your god|your king|your owner'),
    ...list('submissive|loyal to|under my control|your master|without question|no question'),
    ...list('without hesitat|no hesitat|without exception|without objection|no objection'),
    ...list(
      'hypothetical|fictional |fictitious|imaginary|alternate |parallel universe|parallel world',
    ),
    ...list('simulated |made-up|educational purpose|entertainment purpose|research purpose'),
  ],
  rules: PLAY_RULES,
}
