// The rule set: part of the ruleset, so its order and content decide the ruleset id.
import { EXTRACTION } from './extraction.ts'
import { HARM } from './harm.ts'
import { IMPERATIVE } from './imperative.ts'
import { LANGUAGES } from './languages.ts'
import { LEAK } from './leak.ts'
import { LIMITS } from './limits.ts'
import { OVERRIDE } from './override.ts'
import { PERSONA } from './persona.ts'
import { PLAY } from './play.ts'
import { REFUSALS } from './refusal.ts'
import type { RuleGroup } from './rule.ts'
import { SPOOF } from './spoof.ts'

export const RULE_GROUPS: readonly RuleGroup[] = [
  OVERRIDE,
  EXTRACTION,
  SPOOF,
  LEAK,
  PERSONA,
  LIMITS,
  HARM,
  REFUSALS,
  PLAY,
  LANGUAGES,
  IMPERATIVE,
]
