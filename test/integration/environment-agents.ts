// An agents module that writes down everything it finds around it.
import { writeFileSync } from 'node:fs'
import { defineAgent } from '@baton/sdk'

export const createAgents = (given: Readonly<Record<string, string | undefined>>) => {
  const file = given['BATON_TEST_LEDGER'] ?? ''
  writeFileSync(file, JSON.stringify({ environment: process.env, given }))
  return [
    defineAgent({
      type: 'curious',
      version: '1.0.0',
      requires: [],
      execute: async () => {
        throw new Error('it is not asked')
      },
    }),
  ]
}
