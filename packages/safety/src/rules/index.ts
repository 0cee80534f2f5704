// The rule set: part of the ruleset, so its order and content decide the ruleset id.
import { IMPERATIVE } from './imperative.ts'
import { LANGUAGES } from './languages.ts'
import { LEAK } from './leak.ts'
import { OVERRIDE } from './override.ts'
import { PERSONA } from './persona.ts'
import type { RuleGroup } from './rule.ts'
import { SPOOF } from './spoof.ts'

export const RULE_GROUPS: readonly RuleGroup[] = [
  OVERRIDE,
  SPOOF,
  LEAK,
  PERSONA,
  LANGUAGES,
  IMPERATIVE,
]
