// An agents module exports its agents, or makes them from the environment; anything else is said at the start.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadAgents } from './load-agents.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-agents-'))
})
afterAll(() => rm(folder, { recursive: true }))

const AGENT = `const agent = (type) => ({ type, version: '1.0.0', requires: [], execute: async () => ({}) })`

async function load(source: string, environment = {}): Promise<readonly string[]> {
  const path = join(folder, `${crypto.randomUUID()}.mjs`)
  await writeFile(path, `${AGENT}\n${source}`)
  return (await loadAgents(path, environment)).map(({ type }) => type)
}

describe('an agents module', () => {
  it('exports its agents', async () => {
    expect(await load(`export const agents = [agent('one')]`)).toEqual(['one'])
  })

  it('makes them from the environment, also where it exports others', async () => {
    const source = `
      export const agents = [agent('plain')]
      export const createAgents = async ({ NAME }) => [agent(NAME)]`
    expect(await load(source, { NAME: 'made' })).toEqual(['made'])
  })

  it.each([
    ['exports nothing', ''],
    ['exports no agent', 'export const agents = []'],
    ['makes none', 'export const createAgents = () => undefined'],
    ['cannot be read', 'export const'],
  ])('that %s is refused', async (_, source) => {
    await expect(load(source)).rejects.toMatchObject({ code: 'BATON_AGENTS_INVALID' })
  })
})
