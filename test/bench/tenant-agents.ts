// The agents of two tenants: each does nothing, so that the figures are those of the hand-off.
import { defineAgent } from '@baton/sdk'
import { TAKEN } from './message.ts'

export const agents = ['acme/sink', 'globex/sink'].map((type) =>
  defineAgent({
    type,
    version: '1.0.0',
    requires: ['payload'],
    execute: async () => ({ ...TAKEN, next: [] }),
  }),
)
