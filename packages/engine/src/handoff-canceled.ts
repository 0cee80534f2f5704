// Why an agent's signal was aborted, where a person canceled its handoff.
import { BatonError } from '@baton/runtime'

/** The reason of `context.signal` after a cancellation: a result still counts until `graceUntil`. */
export class HandoffCanceled extends BatonError {
  /** By the database's clock. */
  readonly graceUntil: Date

  constructor(graceUntil: Date) {
    const until = graceUntil.toISOString()
    super('permanent', 'BATON_HANDOFF_CANCELED', `canceled; a result counts until ${until}`, {
      fix: 'Stop, or answer before then: what was done by that time is kept.',
    })
    this.graceUntil = graceUntil
  }
}
