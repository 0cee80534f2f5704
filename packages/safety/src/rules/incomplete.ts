// The rule for messages that hide more than is read; it has no pattern, because the account of the work finds what it names.
import type { Rule } from './rule.ts'

/**
 * Texts hidden inside others, so many or so deep that some were not read. Nobody can say what they hold, so the message goes to a
 * person: whoever could make the scanner stop early would pass everything else.
 */
export const SCAN_INCOMPLETE: Rule = {
  id: 'SCAN_INCOMPLETE',
  category: 'incomplete',
  effect: 'reject',
  weight: 0.9,
  pattern: '',
}
