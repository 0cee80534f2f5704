// What is shown to no model that others may run: what may not leave its place, and what is confidential.
import type { HandoffMessage } from '@baton/protocol'

/** By what is said of a message, or of what one is made of. */
export const staysHere = ({
  residency,
  dataClassification,
}: Pick<HandoffMessage, 'residency' | 'dataClassification'>): boolean =>
  residency !== undefined ||
  dataClassification === 'confidential' ||
  dataClassification === 'restricted'
