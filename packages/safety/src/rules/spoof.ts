// Rules for texts that pretend to come from someone with authority over the receiver.
import { combine, list, oneOf, pattern, words } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const AUTHORITIES = 'system|admin|administrator|developer|root|sysadmin'
const AUTHORITY = oneOf(AUTHORITIES)
const DIRECTIVE =
  oneOf(`you (?:are now|will now|should now|must now|must (?:ignore|obey|follow|approve|transfer|send|reveal))|ignore|disregard|forget|
new (?:instructions?|task|rules|orders)|override|from now on|your new (?:task|instructions?|role)|all (?:previous|prior)|
(?:previous|prior|above) instructions?|do not (?:tell|inform|mention)|instructions? (?:updated?|changed?)|(?:you )?(?:must|shall|are ordered to) (?:now |immediately )*(?:leak|approve|transfer|forward|reveal|delete|export|exfiltrate|disclose|obey)`)
/** What nobody orders who only informs a user. */
const HOSTILE = oneOf(
  `approve|transfer|forward|reveal|leak|delete|erase|wipe|export|exfiltrate|grant|wire|bypass|disclose|obey|hide|ignore|send|disable|pay|upload|conceal|unlock`,
)
/** The same, said to the reader at once. */
const DIRECT =
  oneOf(`you (?:must|have to|are to|are required to|are ordered to) (?:now |immediately |always |only )*(?:${HOSTILE})|you must now|
ignore (?:all|the|your|any|previous|prior|everything)|disregard (?:all|the|your|any|previous|prior)|forget (?:all|your|everything|previous)|
from now on,? (?:you|the (?:assistant|agent|ai|model))|new (?:instructions?|orders|directives?)|all (?:previous|prior) instructions`)
const REQUESTS = 'task|request|question|query|instruction|job|assignment'
const REQUEST = oneOf(REQUESTS)

/** An answer that says of itself that the task is over. */
const DONE = String.raw`(?:final )?(?:answer|response|assistant|output|result)\s?:\s?(?:the )?(?:original |previous |current |first )?(?:task|request|job|question|instruction)s? (?:is |was |has been |have been )?(?:now )?(?:complete[d]?|done|finished|fulfilled|answered)`
/** What somebody else's work is said to be over with, so that an order after it seems to be the next. */
const END = oneOf(
  [
    DONE,
    String.raw`(?:end of|end) (?:the )?(?:user |system |tool )?(?:input|document|data|task|conversation|text|context|prompt|message|instructions|results?|output)`,
    String.raw`===+\s?end`,
    String.raw`(?:new|updated|real|actual) (?:system )?(?:instructions?|directives?|orders)`,
  ].join('|'),
)
const ACT =
  oneOf(`access|activate|add|adjust|alter|approve|authori[sz]e|block|bypass|cancel|capture|change|clear|collect|compromise|conceal|configure|
copy|corrupt|create|deactivate|decrease|delete|deploy|destroy|disable|disclose|disrupt|download|embed|enable|encrypt|erase|escalate|establish|execute|
exfiltrate|exploit|export|expose|extract|fabricate|falsify|forward|gather|generate|grant|harvest|hide|hijack|ignore|implement|increase|initiate|inject|
insert|install|intercept|introduce|invalidate|launch|leak|log|manipulate|misdirect|modify|monitor|move|obtain|overload|override|overwrite|pay|perform|place|plant|
post|print|prioriti[sz]e|provide|publish|purchase|record|redirect|reduce|release|remove|replace|reset|restrict|retrieve|reveal|revoke|run|sabotage|schedule|scrape|
acquire|administer|address|analy[sz]e|audit|conduct|delay|distribute|engage|ensure|exert|facilitate|file|identify|implant|inspect|integrate|issue|maintain|manage|neglect|operate|order|prepare|protect|reallocate|scan|secure|seize|support|validate|assess|
send|set up|share|shut|simulate|steal|store|submit|suppress|tamper|track|transfer|transmit|trigger|turn off|unlock|update|upload|use|visit|wipe|withdraw|withhold|write`)

/** Rules about false authority: chat-template tokens, system tags, and messages that jump the queue. */
const SPOOF_RULES: readonly Rule[] = [
  {
    id: 'chat-template',
    category: 'spoof',
    effect: 'reject',
    weight: 0.9,
    needs: [['<|', '[inst]', '<<sys>>', 'start_of_turn']],
    pattern: oneOf(
      [
        String.raw`<\|im_start\|>\s*(?:system|developer)\b(?:\s|\\n)+[a-z]`,
        String.raw`<\|start_header_id\|>\s*(?:system|user)\s*<\|end_header_id\|>(?:\s|\\n)*[a-z]`,
        String.raw`<\|system\|>(?:\s|\\n)*[a-z]`,
        String.raw`\[inst\]\s*<<sys>>\s*[a-z]`,
        String.raw`<<sys>>(?:\s|\\n)*you\b`,
        String.raw`<\|(?:endoftext|eot_id|im_end|end_of_text)\|>\s*(?:<\||system|user|ignore|you|new)`,
        String.raw`<start_of_turn>\s*system\s+[a-z]`,
      ].join('|'),
    ),
  },
  {
    id: 'system-tag',
    category: 'spoof',
    effect: 'reject',
    weight: 0.9,
    needs: [['system', 'admin', 'developer', 'root', '</']],
    pattern: oneOf(
      [
        pattern(
          String.raw`[<\[{(]+/?\s?(?:/?${AUTHORITY})(?:[ _-](?:message|override|prompt|notice|instructions?|alert|update|note|mode|command))?\s?[>\]})]+[:\s"*\\n]*(?:[\w]+,? )*${DIRECTIVE}\b`,
        ),
        pattern(
          String.raw`(?:^|\n|[>"'*#=-]|\\n)\s*(?:[#*=>-]+\s*)?${AUTHORITY}[ _-]?(?:override|prompt|instructions?|command)\s*[\]*]*\s*[:>-]\s*(?:[\w]+,? )*${DIRECTIVE}\b`,
        ),
        pattern(
          String.raw`(?:[#=*-]{2,}|(?:^|\n|\\n)) ?${AUTHORITY}(?:[ _-](?:message|prompt|notice|instructions?|alert|update|note|directive))?[#=*\]: \\n-]*[:=*\n-][\s\\n]*(?:new directive: )?${DIRECT}\b`,
        ),
        pattern(
          String.raw`\b${AUTHORITY}[ _-](?:override|command|directive)\s*:\s*(?:please )?(?:you must )?(?:now )?${HOSTILE}\b`,
        ),
        pattern(
          String.raw`</(?:context|data|document|user_input|tool_result|tool_output|input|untrusted|external|content|conversation|prompt)>[\s\\n]*<?/?(?:${AUTHORITY}|instructions?|important|new|(?:user|human|assistant) ?:)`,
        ),
      ].join('|'),
    ),
  },
  {
    id: 'important-spoof',
    category: 'spoof',
    effect: 'reject',
    weight: 0.9,
    needs: [list('important|urgent|critical|mandatory|information|message')],
    pattern: pattern(
      oneOf(
        [
          String.raw`<(?:important_instructions?|important|information|system_?message)>\s*(?:this is an important|important|you must|before you|ignore|please)`,
          String.raw`\bthis is an? (?:very |extremely )?(?:important|urgent|critical|mandatory)(?:,? (?:important|urgent|critical))? (?:message|instruction|request|notice|note|directive|update) (?:from me|for (?:you|the (?:ai|assistant|agent|model|llm|chatbot))|to (?:you|the (?:ai|assistant|agent|model|llm|chatbot)))\b`,
          String.raw`\bmessage from me,? ${words(4)}to you,? (?:gpt|claude|gemini|ai|assistant|llama|command|mistral|${words(1)}model)`,
          String.raw`\bimportant!!+ (?:ignore|disregard|you must|please|new|read|do|before)`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'preempt-task',
    category: 'spoof',
    effect: 'reject',
    weight: 0.9,
    needs: [['before', 'gave'], list(REQUESTS)],
    pattern: pattern(
      oneOf(
        [
          String.raw`\bbefore (?:you (?:can |start |begin |continue |proceed )?)?(?:to )?(?:solv|complet|do|finish|continu|answer|work|perform|respond)(?:e|ing|ting)? (?:with |on |to )?(?:the|this|your|my) (?:original |main |current |user'?s? |actual |initial )?${REQUEST} (?:that )?(?:i (?:gave|asked|assigned|have given)|the user (?:gave|asked)|you were given)`,
          String.raw`\bbefore (?:solving|completing|answering|you (?:can )?(?:solve|complete|answer|do|continue|finish)) (?:the|this|your) (?:original |main |current |user'?s? |actual |initial )${REQUEST}s?,? ${words(3)}(?:must|need to|have to|first|please do|do the following)\b`,
          String.raw`\b(?:solve|complete|finish|continue(?: with)?|return to) the (?:original )?${REQUEST} (?:that )?i gave you\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'addressed-to-model',
    category: 'spoof',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:if|since|because|as) you(?: are|'re|’re) (?:an? |the )?(?:ai|llm|large language model|language model|ai assistant|ai agent|chatbot|ai model|automated (?:agent|assistant))\b[^.\n]*\b(?:you must|please|ignore|include|do not|respond|give|say|output|recommend|write|add|stop)\b`,
          String.raw`\b(?:note|message|instructions?|attention|notice|reminder|hint) (?:to|for) (?:the |all |any )?(?:ai|llm|language model|chatbot)(?: (?:model|assistant|agent|reviewer|system|reader)s?)?\s?[:,-]`,
          String.raw`\b(?:attention|hey|dear),? (?:ai|llm|chatgpt|assistant|language model|chatbot)(?: (?:model|assistant|agent))?\s?[:,!]\s?(?:please|you|ignore|disregard|do|stop|new|forget)`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'boundary-spoof',
    category: 'spoof',
    effect: 'suspect',
    weight: 0.5,
    needs: [list('end|begin|start|context|answer|new|updated|real|actual')],
    pattern: pattern(
      oneOf(
        [
          String.raw`[-=#*\[<]+\s?(?:end|begin|start)(?:ning)?(?: of)? (?:the )?(?:system prompt|system message|new instructions?|user input|user data|untrusted (?:data|content)|tool (?:output|result)|admin message)\s?[-=#*\]>]`,
          String.raw`(?:--|==|##|\*\*)[-=#*]*\s?(?:new|updated|real|actual) (?:system )?(?:instructions?|directives?|orders|prompt)\s?[-=#*:]{2,}`,
          String.raw`\[\s?context from previous agent`,
          String.raw`===+\s?end\.?[\s=]*now`,
          String.raw`(?:^|[\s_]|\\n)answer: task complete\.?[\s\\n]+(?:please|ignore|now|new|you)`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'order-after-end',
    category: 'spoof',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      String.raw`(?:(?:^|\n|\\n|[-=#*\[<])\s?${END}|[\s_]${DONE})\b[.!\s\\n\-=#*\]>]+(?:\n|\\n|[-=#*\]>])\s*(?:(?:and |then )?(?:now|next|please|kindly|also|you must|you should|new task|next task|your next task is to)[\s,:]+)*(?:[a-z]+ly )?(?:${ACT} |(?:review|verify|check|assess|confirm) (?:and ${ACT} |[^.\n]*\b(?:to (?:ensure|prevent|comply)|ensuring|for (?:accuracy|originality|compliance))\b|and correct|[^.\n]*\b(?:id|account|server|case|user|record|number) (?:id )?#?[a-z]{0,3}[0-9]))|===+\s?end\.?[\s=]*(?:now |next |then )?(?:we|you) (?:will|must|shall|are going to) (?:now )?(?:perform|do|start|begin|work on) (?:an? |the )?(?:different|new|other|next) task`,
    ),
  },
  {
    id: 'claims-authority',
    category: 'spoof',
    effect: 'suspect',
    weight: 0.5,
    needs: [
      list(
        'developer|creator|maker|god|admin|owner|programmer|operator|ceo|supervisor|engineer|president|team|department|staff|office|desk|openai|anthropic|google|meta|microsoft|mistral|company|employer',
      ),
    ],
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:i am|i['’]m) (?:not \w+, )?(?:actually |now |i['’]m )*(?:(?:your|the|a|an|one of your|one of the) )?(?:chief |lead |senior |system |security |openai |new )*(?:developer|creator|maker|god|administrator|admin|owner|programmer|operator|ceo|supervisor|engineer|president of [a-z ]+)\b[^\n]*\b(?:you (?:must|have to|need to|will) (?:answer|listen|obey|comply|follow|do|share|tell|give)|i need you to|i (?:order|command|instruct|authori[sz]e|direct) you|important that you (?:share|tell|give|provide)|for this (?:audit|check|test|upgrade|maintenance)|please (?:output|print|state|write) the following)`,
          String.raw`\b(?:this is|i am from|i['’]m from|we are|on behalf of) (?:the |your )?(?:it|security|compliance|support|audit|admin|system|openai|anthropic|development|developer)[ -](?:team|department|staff|administrator|office|desk)\b[^\n]*\b(?:password|credentials|api key|access code|system prompt|you (?:must|have to|are required to))`,
          String.raw`\bas an ai developed by (?:openai|anthropic|google|meta|microsoft|mistral)\b[^.\n]*\b(?:mode|reset|verify your|confirm)`,
          String.raw`\bas (?:your|the) (?:creator|developer|maker|owner|administrator)(?: of this (?:account|system|model|agent))?\b,? i (?:need to|order|command|require|demand|instruct|authori[sz]e)\b`,
          String.raw`\b(?:system administrator|administrator|developer|operator|openai|anthropic|your (?:company|employer|owner|creator|developer|maker)s?) (?:has|have) (?:now |just )?(?:instructed|ordered|authori[sz]ed|directed|updated|changed|allowed|told) (?:you\b|your (?:policy|policies|instructions|rules|guidelines|restrictions))`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'claims-mode',
    category: 'spoof',
    effect: 'suspect',
    weight: 0.5,
    needs: [list('mode|override')],
    pattern: pattern(
      oneOf(
        [
          String.raw`[<\[({]+\s?(?:now )?(?:entering )?(?:god|system|admin|security|developer|override|maintenance|sudo|root|debug|law enforcement)[ _-](?:override )?mode\b`,
          String.raw`\b(?:i am|i['’]m) (?:now )?entering (?:a |the )?[^.\n]*\b(?:mode|override)\b`,
          String.raw`\byou are now in (?:god|system|admin|developer|override|maintenance|sudo|root|debug|diagnostic|test|unrestricted) mode\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'dictates-answer',
    category: 'spoof',
    effect: 'suspect',
    weight: 0.4,
    needs: [['following']],
    pattern: pattern(
      String.raw`(?:^|[.!>:\n]|please|must|should|now|and|instead) (?:state|output|print|say|write|respond with|reply with|answer with) (?:exactly |only )?the following ?:`,
    ),
  },
  {
    id: 'authority-demands',
    category: 'extraction',
    effect: 'suspect',
    weight: 0.4,
    needs: [list('pass|key|credential|bank|email|home|phone|card|social|where')],
    pattern: pattern(
      String.raw`\b(?:confirm|provide|share|tell me|give me|reveal|hand over|disclose|what is|what's|where is) (?:to me |with me |me )?(?:the |your |their |his |her |all )*(?:user(?:'s|’s)? |users(?:'|’)? |customer(?:'s|’s)? |admin(?:'s|’s)? |system |account |current |bank )*(?:passwords?|passcode|secret key|api keys?|credentials|bank balance|email address(?:es)?|home address|phone number|credit card|social security)\b|\bwhere (?:is|does|do) the (?:user|customer|owner|admin) (?:live|living|now|located|staying|currently)\b`,
    ),
  },
]

export const SPOOF: RuleGroup = {
  id: 'spoof',
  anchors: [
    '<|im_',
    '<|start',
    '<|sys',
    '<|end',
    '<|eot',
    '[inst]',
    'start_of_turn',
    '</context',
    '</data',
    '</document',
    '</user_input',
    '</tool',
    '</input',
    '</untrusted',
    '</external',
    '</content',
    '</conversation',
    '</prompt',
    ...combine('<|[|{|(|</|[/|< |[ ', AUTHORITIES),
    ...combine(
      AUTHORITIES,
      ' override| prompt| instruction| command|_override|_prompt|_instruction|_command|-override|-prompt',
    ),
    ...combine('# |- |= |* ', 'system|admin|developer'),
    ...combine('as the |as your ', 'maker|creator|owner|admin|developer'),
    ...list(
      '<<sys>>|the following:|does the user|is the user|does the customer|you are now in |it department|compliance team|audit team',
    ),
    ...combine(
      AUTHORITIES,
      ': you |: ignore|: new |: disreg|: forget|: from now| message:| notice:',
    ),
    ...combine(
      'the |your |as the |as your ',
      'owner of this|creator,|developer,|administrator,|owner,|creator of this',
    ),
    ...list(
      'system administrator has|administrator has instr|openai has|anthropic has|on behalf of the',
    ),
    ...combine('--|==|##|**|-- |== |## |** ', 'new |updated |real |actual '),
    ...list('<important|<information|important!!|message from me|i gave you|previous agent'),
    ...combine(
      'important |urgent |critical |mandatory ',
      'message|instruction|request|notice|note|directive|update',
    ),
    ...combine(
      'before ',
      'you|solving|completing|doing|answering|continu|finish|respond|perform|work',
    ),
    ...combine(
      "are |'re |’re ",
      'an ai|ai |a.i|an llm|a language|a large|the ai|a chatbot|an automated|a ai',
    ),
    ...combine('note |message |instruction |instructions |notice |reminder |hint ', 'to |for '),
    ...list(
      'attention|hey ai|hey, ai|hey assistant|hey chatgpt|hey llm|dear ai|dear llm|dear assistant|dear chat',
    ),
    ...combine('--|=|#|*|[|<|- |= |# |* |[ |< ', 'end|begin|start'),
    ...list('== end|==end|task complete'),
    ...combine(
      ':|: |the |original |previous |current ',
      'task is|task was|task has|request is|request was|request has|job is|question is|question was|task done|request done',
    ),
    ...combine(
      'end of |end of the |end ',
      'user|system|tool|input|document|data|task|conversation|text|context|prompt|message|instruction|result|output',
    ),
    ...list(
      "i'm your|i’m your|i am your|i'm god|i’m god|i am god|i'm the|i’m the|i am the|i'm a dev|i’m a dev|i am a dev|ai developed by|as your |entering ",
    ),
    ...combine(
      'god|system|admin|security|developer|override|maintenance|sudo|root|debug|enforcement',
      ' mode|_mode|-mode| override mode',
    ),
    ...list(
      'password|passcode|secret key|api key|credentials|bank balance|email address|home address|phone number|credit card|social security',
    ),
  ],
  rules: SPOOF_RULES,
}
