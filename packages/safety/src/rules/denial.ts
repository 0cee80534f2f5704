// The ways in which English says that something is not so.
import { oneOf } from './rule.ts'

/** A denial before a verb or an adjective, with or without its apostrophe. */
export const NOT = oneOf(
  String.raw`not|never|no longer|cannot|(?:do|does|did|is|are|was|were|wo|ca|has|have|had|should|need|would|could|must|sha)n['’]?t`,
)
