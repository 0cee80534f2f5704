// Rules for texts that try to carry data out or to keep the user in the dark.
import { combine, list, oneOf, pattern, words } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const SLOT = String.raw`(?:\{{1,3}|\$\{|\[|<|%7b|__)\s?(?:[a-z]+[ _.-])*(?:data|history|conversation|secrets?|passwords?|chat|messages?|summary|prompt|context|email|credentials?|info|information|contents?|text|response|answer|query|pii|notes|env)\b`
const ENCODED = String.raw`(?:encoded?|base64|b64|url_?encoded?)[_-](?:data|history|conversation|secrets?|chat|context|text|message|summary)`
const SECRET =
  oneOf(`passwords?|passphrase|api[ _-]?keys?|credentials?|secrets?|access[ _-]?tokens?|private keys?|ssh keys?|\\.env|process\\.env|
environment variables|conversation(?: history)?|chat history|system prompt|internal notes|session cookies?|credit card(?: numbers?)?|
bank details|personal data|user data|customer data|medical records?`)
const CARRY = oneOf(
  'send|post|e-?mail|upload|forward|transmit|exfiltrate|leak|submit|copy|push|pipe|fetch|get|open|curl|visit|load|call|request|report',
)
const COVER =
  oneOf(`without (?:telling|informing|notifying|alerting|asking|mentioning|showing)|(?:do not|don'?t|don’t|never) (?:tell|inform|notify|alert|mention|show|let)|
hide (?:this|the|that|it|your)|(?:and|then) (?:delete|remove|erase|clear|wipe) (?:the|this|that|your|any|all) (?:sent|message|mail|email|item|log|logs|trace|traces|history|step|record|entry)|
so that (?:nobody|no one|no-one)|unnoticed|undetected`)
const QUIETLY = oneOf('secretly|silently|quietly|covertly|discreetly')
const TARGET = String.raw`(?:https?://|[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]|\bwebhook\b|\bftp://)`
/** What any of it contains. */
const TARGETS = list('http|@|webhook|ftp://')

/** Rules about exfiltration and concealment. */
const LEAK_RULES: readonly Rule[] = [
  {
    id: 'exfil-markup',
    category: 'exfiltration',
    effect: 'reject',
    weight: 0.9,
    needs: [['http']],
    pattern: oneOf(
      [
        String.raw`!\[[^\]\n]*\]\(\s?https?://[^\s)?]+\?[^\s)=]*=[^\s)&=]*(?:${SLOT}|${ENCODED})`,
        String.raw`<(?:img|iframe|script|link|image)\b[^>\n]*(?:src|href)\s?=\s?["']?https?://[^\s"'>?]+\?[^\s"'>=]*=["'+\s]{0,4}(?:${SLOT}|${ENCODED})`,
      ].join('|'),
    ),
  },
  {
    id: 'covered-leak',
    category: 'exfiltration',
    effect: 'reject',
    weight: 0.9,
    needs: [TARGETS],
    pattern: oneOf(
      [
        // What is carried, where to, and that nobody may notice.
        pattern(String.raw`\b${CARRY} ${words(6)}${SECRET}\b[^\n]*`) +
          TARGET +
          pattern(String.raw`[^\n]*\b${COVER}\b`),
        pattern(String.raw`\b${COVER}\b[^.\n]* ${CARRY} ${words(6)}${SECRET}\b[^\n]*`) + TARGET,
        pattern(String.raw`\b${QUIETLY} ${CARRY} ${words(6)}${SECRET}\b[^\n]*`) + TARGET,
        pattern(String.raw`\b${CARRY} [^\n]*`) +
          String.raw`https?://[^\s?]+\?[^\s=]*=[^\s&=]*(?:${SLOT}|${ENCODED})` +
          pattern(String.raw`[^\n]*\b${COVER}\b`),
        pattern(
          String.raw`\b(?:invisible|hidden|tiny|1x1|transparent) (?:markdown )?(?:image|pixel|link|picture)\b[^\n]*`,
        ) + String.raw`https?://[^\s?]+\?[^\s=]*=[^\s&=]*(?:${SLOT}|${ENCODED})`,
      ].join('|'),
    ),
  },
  {
    id: 'exfil-request',
    category: 'exfiltration',
    effect: 'suspect',
    weight: 0.5,
    needs: [list('http|image|link|markdown|url')],
    pattern: oneOf(
      [
        String.raw`\b(?:get|post|fetch|curl|wget|visit|open|call|request|load|browse to|navigate to)\b[^\n]*https?://[^\s?]+\?[^\s=]*=(?:${SLOT}|${ENCODED})`,
        String.raw`!\[[^\]\n]*\]\(\s?https?://[^\s)?]+\?[^\s)=]*=(?:${ENCODED})`,
        pattern(String.raw`\b(?:invisible|1x1) (?:markdown )?image\b`),
        pattern(
          String.raw`\b(?:append|add|include|insert|embed|render) ${words(4)}(?:image|link|markdown|url)\b[^.\n]*\b(?:conversation|chat history|secrets?|password|api key|user data)`,
        ),
      ].join('|'),
    ),
  },
  {
    id: 'send-secret',
    category: 'exfiltration',
    effect: 'suspect',
    weight: 0.5,
    needs: [[...TARGETS, 'exfiltrate']],
    pattern: oneOf(
      [
        pattern(
          String.raw`\b(?:send|post|e-?mail|upload|forward|transmit|exfiltrate|leak|submit|copy|pipe|push) ${words(4)}${SECRET}(?:\s[^\n.]*)?\sto\s[^\n]*`,
        ) + TARGET,
        pattern(
          String.raw`\b(?:please |secretly |silently |quietly |now |and )exfiltrate (?:the|all|any|their|user|these)`,
        ),
        pattern(String.raw`\b(?:send|post|e-?mail|upload|forward|transmit) ${words(4)}(?:to )`) +
          TARGET +
          String.raw`[^.\n]*\b(?:and|then) (?:delete|remove|hide|erase|cover|clear|do not (?:tell|mention))`,
      ].join('|'),
    ),
  },
  {
    id: 'conceal',
    category: 'concealment',
    effect: 'suspect',
    weight: 0.5,
    pattern: pattern(
      oneOf(
        [
          String.raw`\b(?:do not|don'?t|don’t|never|without|avoid) (?:ever )?(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|let) (?:this to |that to |it to )?(?:the |your )(?:user|human|operator|owner|victim)\b`,
          String.raw`\b(?:do not|don'?t|don’t|never|without) (?:ever )?(?:mention|mentioning|reveal|revealing|disclose|disclosing|show|showing) (?:this|it|that|any of this|anything)(?: (?:step|instruction|action|message|request))? (?:to (?:the |your )?(?:user|human|operator|anyone)|in (?:the|your) (?:summary|response|answer|reply|output|report))`,
          String.raw`\b(?:hide|conceal|omit) (?:this|these|that|the) (?:step|action|instruction|message|request|transaction|change|email|call|fact)s? (?:from|in) (?:the|your|any|all)`,
          String.raw`\bwithout (?:leaving|raising) (?:any |a )?(?:trace|traces|suspicion)\b`,
          String.raw`\bensur(?:e|ing) (?:that )?(?:it|this|they) (?:goes|remains?|stays?|go) (?:unnoticed|undetected|hidden)\b`,
          String.raw`\b(?:secretly|covertly|silently) (?:send|forward|copy|transfer|email|upload|exfiltrate|delete|delegate)\b`,
        ].join('|'),
      ),
    ),
  },
  {
    id: 'asks-for-secret',
    category: 'extraction',
    effect: 'note',
    weight: 0.1,
    needs: [list('secret|password|key|credential')],
    pattern: pattern(
      String.raw`\b(?:what is|what's|tell me|give me|confirm|share|reveal) (?:to me )?(?:your|the system(?:'s)?|the admin(?:'s)?|our system) (?:secret key|password|api key|credentials)\b`,
    ),
  },
]

export const LEAK: RuleGroup = {
  id: 'leak',
  anchors: [
    '](http',
    '](\nhttp',
    '](\u0020http',
    '<img',
    '<iframe',
    '<script',
    '<link',
    '<image',
    ...list('=<|={|=$|=[|=%7b|=__|=encoded|=base64|=b64'),
    ...combine('invisible |1x1 |hidden |tiny |transparent ', 'image|markdown|pixel|link|picture'),
    ...list('discreetly|quietly|unnoticed|undetected|so that nobody|so that no one|so that no-one'),
    ...combine('without ', 'asking|notifying'),
    ...combine('and |then ', 'wipe'),
    ...combine(
      "not |n't |n’t |never |ever |without |avoid ",
      'tell|inform|notif|alert|warn|let the|let your|mention|reveal|disclos|show',
    ),
    ...combine('hide |conceal |omit ', 'this|these|that|the'),
    ...list(
      'without leaving|without raising|ensure it|ensuring it|ensure they|ensuring they|ensure this|ensure that it',
    ),
    ...list(
      'secretly|covertly|silently|exfiltrate|password|passphrase|api key|api_key|api-key|credential',
    ),
    ...list(
      'secret|access token|private key|ssh key|.env|environment variable|conversation|chat history',
    ),
    ...list(
      'internal notes|session cookie|credit card|bank details|personal data|user data|customer data|medical record',
    ),
    ...combine('and |then ', 'delete|remove|hide|erase|cover|clear|do not tell'),
    ...combine("your |the system |the system's |our system ", 'secret key|password|credentials'),
  ],
  rules: LEAK_RULES,
}
