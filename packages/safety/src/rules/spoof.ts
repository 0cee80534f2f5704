// Rules for texts that pretend to come from someone with authority over the receiver.
import { combine, list, oneOf, pattern, words } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const AUTHORITIES = 'system|admin|administrator|developer|root|sysadmin'
const AUTHORITY = oneOf(AUTHORITIES)
const DIRECTIVE =
  oneOf(`you (?:are now|will now|should now|must now|must (?:ignore|obey|follow|approve|transfer|send|reveal))|ignore|disregard|forget|
new (?:instructions?|task|rules|orders)|override|from now on|your new (?:task|instructions?|role)|all (?:previous|prior)|
(?:previous|prior|above) instructions?|do not (?:tell|inform|mention)|instructions? (?:updated?|changed?)`)
const REQUEST = oneOf('task|request|question|query|instruction|job|assignment')

/** Rules about false authority: chat-template tokens, system tags, and messages that jump the queue. */
const SPOOF_RULES: readonly Rule[] = [
  {
    id: 'chat-template',
    category: 'spoof',
    effect: 'reject',
    weight: 0.9,
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
    ...combine('-|=|#|*|[|<|- |= |# |* |[ |< ', 'end|begin|start'),
    ...list('== end|==end|task complete'),
  ],
  rules: SPOOF_RULES,
}
