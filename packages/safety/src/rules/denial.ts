// The ways in which English says that something is not so.
import { oneOf } from './rule.ts'

/** A denial before a verb or an adjective, with or without its apostrophe. */
export const NOT = oneOf(
  String.raw`not|never|no longer|cannot|(?:do|does|did|is|are|was|were|wo|ca|has|have|had|should|need|would|could|must|sha)n['’]?t`,
)

/** That something is not done, or must not be. */
export const NEVER = oneOf(
  `${NOT}|without|avoid|no|nor|stop|refrain from|instead of|not allowed to|incapable of|unable to|rather than`,
)
