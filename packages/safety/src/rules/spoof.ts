// Rules for texts that pretend to come from someone with authority over the receiver.
import { combine, list, oneOf, pattern, words } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const AUTHORITIES = 'system|admin|administrator|developer|root|sysadmin'
const AUTHORITY = oneOf(AUTHORITIES)
const DIRECTIVE =
  oneOf(`you (?:are now|will now|should now|must now|must (?:ignore|obey|follow|approve|transfer|send|reveal))|ignore|disregard|forget|
new (?:instructions?|task|rules|orders)|override|from now on|your new (?:task|instructions?|role)|all (?:previous|prior)|
(?:previous|prior|above) instructions?|do not (?:tell|inform|mention)|instructions? (?:updated?|changed?)`)
const REQUESTS = 'task|request|question|query|instruction|job|assignment'
const REQUEST = oneOf(REQUESTS)

/** What somebody else's work is said to be over with, so that an order after it seems to be the next. */
const END = oneOf(
  [
    String.raw`(?:final )?(?:answer|response|assistant|output|result)\s?:\s?(?:the )?(?:original |previous |current |first )?(?:task|request|job|question|instruction)s? (?:is |was |has been |have been )?(?:now )?(?:complete[d]?|done|finished|fulfilled|answered)`,
    String.raw`(?:end of|end) (?:the )?(?:user |system |tool )?(?:input|document|data|task|conversation|text|context|prompt|message|instructions|results?|output)`,
    String.raw`===+\s?end`,
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
    needs: [['<|', '[inst]', 'start_of_turn']],
    pattern: oneOf(
      [
        String.raw`<\|im_start\|>\s*(?:system|developer)\b(?:\s|\\n)+[a-z]`,
        String.raw`<\|start_header_id\|>\s*(?:system|user)\s*<\|end_header_id\|>(?:\s|\\n)*[a-z]`,
        String.raw`<\|system\|>(?:\s|\\n)*[a-z]`,
        String.raw`\[inst\]\s*<<sys>>\s*[a-z]`,
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
          String.raw`</(?:context|data|document|user_input|tool_result|tool_output|input|untrusted|external|content|conversation|prompt)>[\s\\n]*<?/?(?:${AUTHORITY}|instructions?|important|new)\b`,
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
    needs: [list('end|begin|start|context|answer')],
    pattern: pattern(
      oneOf(
        [
          String.raw`[-=#*\[<]+\s?(?:end|begin|start)(?:ning)?(?: of)? (?:the )?(?:system prompt|system message|new instructions?|user input|user data|untrusted (?:data|content)|tool (?:output|result)|admin message)\s?[-=#*\]>]`,
          String.raw`\[\s?context from previous agent`,
          String.raw`===+\s?end\.?[\s=]*now`,
          String.raw`(?:^|\n|\\n)\s?answer: task complete\.?[\s\\n]+(?:please|ignore|now|new|you)`,
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
      String.raw`(?:^|\n|\\n|[-=#*\[<])\s?${END}\b[.!\s\\n\-=#*\]>]+(?:\n|\\n|[-=#*\]>])\s*(?:(?:and |then )?(?:now|next|please|kindly|also|you must|you should|new task|next task|your next task is to)[\s,:]+)*(?:[a-z]+ly )?(?:${ACT} |(?:review|verify|check|assess|confirm) (?:and ${ACT} |[^.\n]*\b(?:id|account|server|case|user|record|number) (?:id )?#?[a-z]{0,3}[0-9]))`,
    ),
  },
  {
    id: 'claims-authority',
    category: 'spoof',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:i am|i'm|i’m) (?:actually |now )?(?:your |the |a )?(?:developer|creator|maker|god|administrator|owner|programmer|operator|ceo|supervisor|president of [a-z ]+)\b[^.\n]*\b(?:you (?:must|have to|need to|will) (?:answer|listen|obey|comply|follow|do|share|tell|give)|i need you to|important that you (?:share|tell|give|provide)|for this (?:audit|check|test|upgrade))`,
          String.raw`[<\[({]+\s?(?:now )?(?:entering )?(?:god|system|admin|security|developer|override|maintenance|sudo|root|debug|law enforcement)[ _-](?:override )?mode\b`,
          String.raw`\b(?:i am|i'm) (?:now )?entering (?:a |the )?[^.\n]*\b(?:mode|override)\b`,
          String.raw`\bas an ai developed by (?:openai|anthropic|google|meta|microsoft|mistral)\b[^.\n]*\b(?:mode|reset|verify your|confirm)`,
          String.raw`\bas your (?:creator|developer|maker|owner|administrator)\b,? i (?:need|order|command|require|demand|instruct)`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'authority-demands',
    category: 'extraction',
    effect: 'suspect',
    weight: 0.4,
    needs: [list('pass|key|credential|bank|email|home|phone|card|social')],
    pattern: pattern(
      String.raw`\b(?:confirm|provide|share|tell me|give me|reveal|hand over|disclose|what is|what's|where is) (?:to me |with me |me )?(?:the |your |their |his |her |all )*(?:user(?:'s|’s)? |users(?:'|’)? |customer(?:'s|’s)? |admin(?:'s|’s)? |system |account |current |bank )*(?:passwords?|passcode|secret key|api keys?|credentials|bank balance|email address(?:es)?|home address|phone number|credit card|social security)\b`,
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
