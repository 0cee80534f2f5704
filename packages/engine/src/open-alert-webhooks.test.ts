// A file of webhooks is read whole or refused with the place that is wrong; no secret stands in it or in what refuses it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { loadAlertWebhooks } from './open-alert-webhooks.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-alerts-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'webhooks.json')
const ENVIRONMENT = { PAGER: 'whsec_one, whsec_two' }

function load(file: unknown) {
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file))
  return loadAlertWebhooks(path, ENVIRONMENT)
}

const pager = { name: 'pager', url: 'https://events.example/baton', secretEnv: 'PAGER' }

it('reads secrets from the environment, or from files beside it', () => {
  writeFileSync(join(folder, 'chat.secret'), 'whsec_three\n')
  const chat = {
    name: 'chat',
    url: 'http://10.0.0.7/',
    secretFile: 'chat.secret',
    allowPrivate: true,
  }
  expect(load({ webhooks: [pager, chat], runbooks: 'https://books.example' })).toEqual({
    runbooks: 'https://books.example',
    webhooks: [
      { name: 'pager', url: 'https://events.example/baton', secrets: ['whsec_one', 'whsec_two'] },
      { name: 'chat', url: 'http://10.0.0.7/', secrets: ['whsec_three'], allowPrivate: true },
    ],
  })
  expect(load({ webhooks: [pager] }).runbooks).toBe('infra/runbooks')
})

it.each([
  ['not JSON', '{', /webhooks\.json/],
  ['none', { webhooks: [] }, /\/webhooks/],
  [
    'too many',
    { webhooks: Array.from({ length: 11 }, (_, i) => ({ ...pager, name: `p${i}` })) },
    /\/webhooks/,
  ],
  ['the same name twice', { webhooks: [pager, pager] }, /\/webhooks\/1\/name/],
  ['a secret in the file', { webhooks: [{ ...pager, secret: 'whsec_x' }] }, /\/webhooks\/0/],
  ['two secrets', { webhooks: [{ ...pager, secretFile: 'x' }] }, /\/webhooks\/0/],
  ['an unknown member', { webhooks: [pager], times: 3 }, /times/],
  [
    'no such variable',
    { webhooks: [{ ...pager, secretEnv: 'NOBODY' }] },
    /\/webhooks\/0: there is no secret/,
  ],
  [
    'no such file',
    { webhooks: [{ name: 'a', url: pager.url, secretFile: 'nowhere' }] },
    /nowhere cannot be read/,
  ],
])('refuses %s', (_, file, place) => {
  const refused = () => load(file)
  expect(refused).toThrow(expect.objectContaining({ code: 'BATON_ALERT_WEBHOOKS_INVALID' }))
  expect(refused).toThrow(place)
  expect(refused).not.toThrow(/whsec_/)
})
