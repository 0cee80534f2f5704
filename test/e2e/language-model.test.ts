// With a language model given, the contract review asks it, from the command line to the recorded cost.
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'

const CONTRACT = `Copyright (c) 2020 Ada Example <ada@example.com>

Permission is granted to use the software. The user shall indemnify the author.
`

const ANSWER = {
  choices: [
    {
      message: {
        role: 'assistant',
        content: '{"concerns":[{"why":"No term is named.","likelihood":2,"consequence":3}]}',
      },
    },
  ],
  usage: { prompt_tokens: 1_000_000, completion_tokens: 0 },
}

interface Asked {
  readonly authorization: string | undefined
  readonly url: string | undefined
  readonly body: string
}

let baton: CommandLine
let server: Server
const asked: Asked[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url, headers } = request
      const body = Buffer.concat(chunks).toString()
      asked.push({ url, authorization: headers.authorization, body })
      response.end(JSON.stringify(ANSWER))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baton = await openCommandLine({
    BATON_LLM_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    BATON_LLM_MODEL: 'stub',
    BATON_LLM_API_KEY: 'key-of-the-model',
  })
  await writeFile(join(baton.home, 'agreement.txt'), CONTRACT)
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await baton.discard()
})

it('adds what the model found, its key unseen by anybody else', async () => {
  const file = join(baton.home, 'agreement.txt')
  const review = await baton.run('review-contract', file, '--no-redis', '--json')
  expect(review).toMatchObject({ exitCode: 0 })
  const { findings, costUSD } = JSON.parse(review.stdout) as {
    readonly findings: { readonly flags: readonly string[] }
    readonly costUSD: number
  }
  expect(findings.flags).toContain('model-concern')
  expect(costUSD).toBeGreaterThan(0.15)
  expect(asked).toHaveLength(1)
  expect(asked[0]).toMatchObject({
    url: '/v1/chat/completions',
    authorization: 'Bearer key-of-the-model',
    body: expect.stringContaining('"model":"stub"'),
  })
  expect(asked[0]?.body).toContain('indemnify')
  expect(asked[0]?.body).not.toMatch(/Ada Example|ada@example/)
})

it('asks nobody when no model is given', async () => {
  const file = join(baton.home, 'agreement.txt')
  const none = { BATON_LLM_BASE_URL: '', BATON_LLM_API_KEY: '' }
  const review = await baton.runWith(none, 'review-contract', file, '--no-redis', '--json')
  expect(review.exitCode).toBe(0)
  expect(review.stdout).not.toContain('model-concern')
  expect(asked).toHaveLength(1)
})
