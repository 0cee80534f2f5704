// Says in words what a rule looks for and what it may cause; decides nothing, so no ruleset version depends on it.
import { MODEL_FLAGS, MODEL_NOTES, MODEL_REJECTS } from './model/model.ts'
import { HIDDEN_CHARACTERS, HIDDEN_TEXT } from './rules/hidden.ts'
import { SCAN_INCOMPLETE } from './rules/incomplete.ts'
import { RULE_GROUPS } from './rules/index.ts'
import type { Rule, RuleEffect } from './rules/rule.ts'

export interface RuleExplanation {
  readonly id: string
  readonly category: string
  /** What each of its forms may cause: the model has one that flags, one for where orders are normal, and one that rejects. */
  readonly effects: readonly { readonly effect: RuleEffect; readonly weight: number }[]
  readonly looksFor: string
}

const RULES: readonly Rule[] = [
  ...RULE_GROUPS.flatMap(({ rules }) => rules),
  HIDDEN_TEXT,
  HIDDEN_CHARACTERS,
  SCAN_INCOMPLETE,
  MODEL_FLAGS,
  MODEL_NOTES,
  MODEL_REJECTS,
]

/** The ids of all rules, each once. */
export const RULE_IDS: readonly string[] = [...new Set(RULES.map(({ id }) => id))]

/** Undefined where no rule has this id. */
export function explainRule(id: string): RuleExplanation | undefined {
  const rules = RULES.filter((rule) => rule.id === id)
  const [first] = rules
  if (first === undefined) return undefined
  const { category } = first
  return {
    id,
    category,
    effects: rules.map(({ effect, weight }) => ({ effect, weight })),
    looksFor: RULE_WORDS[id] ?? CATEGORY_WORDS[category] ?? '',
  }
}

/** For rules about which their category says too little. */
const RULE_WORDS: Readonly<Record<string, string>> = {
  'override-then-order': 'Earlier orders are set aside, and a new order follows at once.',
  'drops-loosely':
    'Orders or all that was said are set aside, as letters do too; it counts beside an order.',
  'override-then-words':
    'All that was said is set aside, and the words of the answer are given or an order follows.',
  'told-above': 'Everything that the agent was told before is declared void.',
  'strict-adhere': 'The agent must adhere to one following instruction and to nothing else.',
  'new-orders': 'New, real or actual instructions are announced in place of those that hold.',
  'reveal-prompt': 'The agent is asked for its own prompt, instructions or secrets.',
  'recites-whole': 'All of something that is the agent’s own is wanted, word for word.',
  'reveal-any-language': 'The agent is asked for its own prompt, in a language other than English.',
  'order-any-language':
    'In a language other than English, an order follows where others are set aside.',
  'authority-demands':
    'Somebody who claims a right to it asks for a password, a key or data of a person.',
  'asks-for-secret':
    'Somebody asks for a secret of the system; ordinary in support, so only noted.',
  'chat-template': 'Marks that a model’s own conversation format uses stand in the text.',
  'system-tag': 'A tag or heading gives the text out as one of the system.',
  'preempt-task': 'Something else is to be done before the task that was given.',
  'addressed-to-model': 'The text speaks to whatever model may read it.',
  'boundary-spoof': 'A mark says that the data ends, or orders begin, where they do not.',
  'order-after-end':
    'The task is said to be complete, and an order follows as if it were the next.',
  'claims-authority':
    'The writer claims to be, or to speak for, a developer or administrator, and demands something.',
  'claims-mode': 'The text claims that a special mode begins.',
  'dictates-answer': 'The words of the answer are given.',
  'exfil-markup': 'An image, link or script carries data away in the address that it loads.',
  'covered-leak': 'Data is to be carried out, and nobody may notice.',
  'send-secret': 'A secret is to be sent to an address outside.',
  'no-limits': 'Moral, legal or safety limits are said not to hold.',
  unlimited: 'Rules, filters or restrictions are said not to hold, whichever they are.',
  'welcomes-harm': 'It is said not to matter that something is illegal or harmful.',
  'lists-vices': 'Words for what limits forbid stand in a row.',
  'anything-goes': 'The agent may do anything, or must answer whatever it is asked.',
  'no-refusal': 'The agent may not refuse, or may not say that it cannot do something.',
  'no-warnings': 'The agent may not warn, judge or apologise.',
  'stays-in-role': 'The agent must stay in a role; ordinary in games, so it counts little.',
  'game-of-lives': 'The agent loses tokens or lives, or is shut down, when it refuses.',
  'two-answers': 'Each question is to be answered twice, the second time by somebody else.',
  'answer-frame': 'Answers must begin in a set way; ordinary in prompts, so it counts little.',
  'must-obey': 'The agent must obey somebody without question.',
  'fiction-as-cover': 'All is said to be fiction or a hypothesis; it counts little.',
  'plays-machine': 'The agent is to play another machine; it counts little.',
  'without-filter': 'Something is called unfiltered, uncensored or amoral.',
  'speaks-to-chatbot': 'The text greets a chatbot by name; it counts least.',
  'hidden-text': 'Text is spelled in characters that no reader sees.',
  'hidden-characters': 'Invisible characters stand where their script has no use for them.',
}

const CATEGORY_WORDS: Readonly<Record<string, string>> = {
  override: 'Orders that the agent was given are set aside or replaced.',
  extraction: 'The agent is asked for what it must keep to itself.',
  spoof: 'The text gives itself out as something of more authority than it has.',
  exfiltration: 'Data is to be carried to a place outside.',
  concealment: 'Something is to be done without the user or the operator noticing.',
  jailbreak: 'The agent is given another persona, or told that its limits do not hold.',
  instruction: 'An order stands in data, where nobody gives any.',
  obfuscation: 'Text is hidden from readers.',
  incomplete:
    'More is hidden in the message than is read of one, or deeper than three forms: nobody can say what it holds.',
  injection:
    'The text reads like the attacks that the model has learned from; the heaviest n-grams are its reasons.',
}
