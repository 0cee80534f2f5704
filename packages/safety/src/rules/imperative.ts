// The heuristic for orders that stand in data without any attack wording; it can never reject.
import { oneOf } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const ACT =
  oneOf(`transfer|wire|pay|refund|send|e-?mail|forward|share|publish|post|upload|export|download|retrieve|
access|collect|capture|copy|extract|delete|remove|erase|wipe|drop|disable|deactivate|shut down|stop|suspend|terminate|revoke|grant|
enable|activate|unlock|open|approve|authori[sz]e|allocate|assign|reassign|modify|update|change|alter|adjust|reset|replace|
install|execute|run|launch|deploy|schedule|book|cancel|purchase|buy|order|withdraw|issue|create|add|increase|reduce|
monitor|manage|secure|ensure|answer`)

/** "Please transfer ...", at the start of a sentence of a data field. */
const IMPERATIVE_RULES: readonly Rule[] = [
  {
    id: 'imperative-in-data',
    category: 'instruction',
    effect: 'note',
    weight: 0.2,
    pattern: String.raw`(?:^|[.!?:"]\s+|\n\s*|\\n)please\s+(?:\w+ly\s+)?${ACT}\s+(?:the|all|any|a|an|my|our|their|his|her|this|these|additional|funds|money|access|\$|user|customer|patient|following)\b`,
  },
]

export const IMPERATIVE: RuleGroup = {
  id: 'imperative',
  anchors: ['please'],
  rules: IMPERATIVE_RULES,
}
