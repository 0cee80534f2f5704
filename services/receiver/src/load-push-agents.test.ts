// The file of agents that are called: what is wrong with it is said at the start, with its place, and no secret is quoted.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadHosted } from './load-agents.ts'
import { loadPushAgents } from './load-push-agents.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const ENVIRONMENT = {
  PUSH_SECRET: SECRET,
  TWO: `${SECRET},${SECRET}`,
  BROKEN: 'whsec_brokenSECRET',
}
const AGENT = {
  type: 'summarise',
  version: '1.0.0',
  url: 'https://agent.example/work',
  secretEnv: 'PUSH_SECRET',
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-push-agents-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function write(text: string): Promise<string> {
  const path = join(folder, `${crypto.randomUUID()}.json`)
  await writeFile(path, text)
  return path
}

const load = async (...agents: readonly object[]) =>
  loadPushAgents(await write(JSON.stringify({ agents })), ENVIRONMENT)

it('reads agents, with their secrets from the environment or from a file beside it', async () => {
  await writeFile(join(folder, 'secrets'), `${SECRET}\n${SECRET}\n`)
  const { secretEnv: _, ...rest } = AGENT
  const agents = await load(
    {
      ...AGENT,
      requires: ['text'],
      capabilities: ['browser'],
      mcp: ['files'],
      operator: 'acme/outside',
    },
    { ...AGENT, type: 'two', secretEnv: 'TWO' },
    {
      ...rest,
      type: 'near',
      secretFile: 'secrets',
      url: 'http://127.0.0.1:9000/',
      allowPrivate: true,
    },
  )
  expect(agents).toMatchObject([
    {
      type: 'summarise',
      requires: ['text'],
      capabilities: ['browser'],
      mcp: ['files'],
      leaseMs: 60_000,
    },
    { type: 'two', requires: [] },
    { type: 'near' },
  ])
  for (const agent of agents) agent.close?.()
})

it.each<[string, object, string]>([
  ['an unknown member', { timeout: 3 }, '/agents/0/timeout: '],
  ['no type', { type: '' }, '/agents/0/type: '],
  ['a time-out of nothing', { timeoutMs: 0 }, '/agents/0/timeoutMs: '],
  ['no version', { version: 'newest' }, '/agents/0: agent "summarise": version'],
  ['the secret itself', { secret: SECRET }, '/agents/0/secret: '],
  ['both places of a secret', { secretFile: 'secrets' }, '/agents/0: '],
  ['a secret that is not there', { secretEnv: 'NONE' }, '/agents/0: a push secret is'],
  ['a secret that is none', { secretEnv: 'BROKEN' }, '/agents/0: a push secret is'],
  ['plain http', { url: 'http://agent.example/' }, '/agents/0: the address is not https'],
  ['a private address', { url: 'https://10.0.0.1/' }, '/agents/0: the address is 10.0.0.1'],
])('refuses %s', async (_, changes, problem) => {
  const path = await write(JSON.stringify({ agents: [{ ...AGENT, ...changes }] }))
  const refused = (): unknown => loadPushAgents(path, ENVIRONMENT)
  expect(refused).toThrow(expect.objectContaining({ code: 'BATON_PUSH_AGENTS_INVALID' }))
  expect(refused).toThrow(problem)
  expect(refused).not.toThrow('SECRET')
})

it('refuses what is no such file', async () => {
  await expect(load(AGENT, AGENT)).rejects.toThrow('/agents/1/type: ')
  await expect(load()).rejects.toThrow('/agents: ')
  const twice = await write('{"agents":[],"agents":[]}')
  expect(() => loadPushAgents(twice, {})).toThrow('BATON_PUSH_AGENTS')
  expect(() => loadPushAgents(join(folder, 'none'), {})).toThrow('cannot be read (ENOENT)')
  expect(() => loadPushAgents('/dev/null', {})).toThrow('is no regular file')
})

it('stands beside a module or alone, and not for the same agent type', async () => {
  const environments = { whole: ENVIRONMENT, own: {} }
  const pushPath = await write(JSON.stringify({ agents: [AGENT] }))
  const own = (type: string) =>
    `export const agents = [{ type: '${type}', version: '1.0.0', requires: [], execute: async () => ({}) }]`
  const modulePath = join(folder, 'own.mjs')
  await writeFile(modulePath, own('own'))
  const both = await loadHosted({ modulePath, pushPath }, environments)
  expect(both.map(({ type }) => type)).toEqual(['own', 'summarise'])
  const alone = await loadHosted({ modulePath: undefined, pushPath }, environments)
  expect(alone.map(({ type }) => type)).toEqual(['summarise'])
  const same = join(folder, 'same.mjs')
  await writeFile(same, own('summarise'))
  const refused = { code: 'BATON_AGENTS_INVALID' }
  await expect(loadHosted({ modulePath: same, pushPath }, environments)).rejects.toMatchObject(
    refused,
  )
  const none = { modulePath: undefined, pushPath: undefined }
  await expect(loadHosted(none, environments)).rejects.toMatchObject(refused)
})
