// A sender with hooks says whose they are, before anything is opened.
import { expect, it } from 'vitest'
import { createSender } from './sender.ts'
import { parseSigningKeys } from './signing-keys.ts'

it('refuses hooks that belong to no agent', () => {
  const options = {
    databaseUrl: 'postgres://nobody@127.0.0.1:9/nothing',
    keyRing: parseSigningKeys(`k1:active:${Buffer.alloc(32, 7).toString('base64')}`),
  }
  const refused = expect.objectContaining({ code: 'BATON_SENDER_AGENTS_MISSING' })
  expect(() => createSender({ ...options, onRollback: async () => undefined })).toThrow(refused)
  expect(() => createSender({ ...options, agents: [], onReturn: async () => undefined })).toThrow(
    refused,
  )
})
