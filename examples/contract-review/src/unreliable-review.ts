// An agent that never succeeds, to show what a rollback looks like.
import { defineAgent, transient } from '@baton/sdk'

/** Throws a transient error on every attempt, so its task rolls back after the last one (E15). */
export const unreliableReview = defineAgent({
  type: 'unreliable-review',
  version: '1.0.0',
  requires: ['licence'],
  execute: () =>
    Promise.reject(
      transient('BATON_REVIEW_UNAVAILABLE', 'this agent fails on purpose, to show the rollback'),
    ),
})
