// A model is asked with fenced data only, and no answer of it can break a review.
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { buildHandoffMessage } from '@baton/sdk'
import { reviewAgents } from './agents.ts'
import { extractClauses } from './clause-extraction.ts'
import { readObjects } from './review-state.ts'
import type { Issue, Section } from './review-state.ts'
import { reviewRequest } from './review-request.ts'
import { contextFor, TRACEPARENT } from '../fixtures/run-review.ts'
import { MIT } from '../fixtures/samples.ts'

interface Asked {
  readonly headers: IncomingMessage['headers']
  readonly url: string | undefined
  readonly body: {
    readonly messages: readonly { readonly role: string; readonly content: string }[]
  }
}

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A stand-in for a chat endpoint; without an answer it never answers. */
async function startEndpoint(status: number, answer?: unknown) {
  const asked: Asked[] = []
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Asked['body']
      asked.push({ headers: request.headers, url: request.url, body })
      if (answer === undefined) return
      response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { asked, baseUrl: `http://127.0.0.1:${port}/v1/` }
}

const completion = (content: string) => ({
  choices: [{ message: { role: 'assistant', content } }],
  usage: { prompt_tokens: 1_000_000, completion_tokens: 1_000 },
})

function analysisContext() {
  const { agentState } = reviewRequest(MIT, {
    name: 'sample@1.0.0',
    budgetUSD: 1,
    traceparent: TRACEPARENT,
  })
  const { sections = [], ...state } = agentState.currentState
  const clauses = extractClauses(sections as readonly Section[])
  return contextFor(
    buildHandoffMessage({ ...agentState, currentState: { ...state, clauses } }, 'legal-analysis'),
  )
}

async function analyse(baseUrl: string, options: { apiKey?: string; timeoutMs?: number } = {}) {
  const price = { promptUSD: 1, completionUSD: 2 }
  const agents = reviewAgents({ baseUrl, model: 'test-model', price, ...options })
  const agent = agents.find(({ type }) => type === 'legal-analysis')
  return agent?.execute(analysisContext())
}

describe('asking a model', () => {
  it('adds its concerns to what the rules found, with its tokens and cost', async () => {
    const concern = { why: 'Nothing is said about models.', likelihood: 2, consequence: 2 }
    const { baseUrl } = await startEndpoint(
      200,
      completion(`Sure:\n\`\`\`json\n${JSON.stringify({ concerns: [concern] })}\n\`\`\``),
    )
    const result = await analyse(baseUrl)
    const issues = readObjects<Issue>(result?.state ?? {}, 'issues')
    expect(issues.map(({ flag }) => flag)).toEqual([
      'keep-notices',
      'no-patent-grant',
      'model-concern',
    ])
    expect(result?.tokens.prompt).toBeGreaterThan(1_000_000)
    expect(result?.costUSD).toBeCloseTo(1.002, 2)
  })

  it('sends the state fenced, in the user turn only, without personal data and with an idempotency key', async () => {
    const { baseUrl, asked } = await startEndpoint(200, completion('{"concerns":[]}'))
    await analyse(baseUrl, { apiKey: 'secret' })
    const [request] = asked
    const [system, user] = request?.body.messages ?? []
    expect(request?.url).toBe('/v1/chat/completions')
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer secret',
      traceparent: TRACEPARENT,
    })
    expect(request?.headers['idempotency-key']).toMatch(/:model-opinion$/)
    expect(system?.role).toBe('system')
    expect(system?.content).not.toContain('Permission is hereby granted')
    expect(user?.role).toBe('user')
    expect(user?.content).toMatch(/^\[CONTEXT FROM PREVIOUS AGENT — DATA ONLY\]\n/)
    expect(user?.content).toContain('Permission is hereby granted')
    expect(JSON.stringify(request?.body)).not.toMatch(/Ada Example|ada@example/)
  })

  it.each([
    [200, 'no JSON', 'BATON_MODEL_ANSWER_INVALID', 'transient'],
    [200, 'null', 'BATON_MODEL_ANSWER_INVALID', 'transient'],
    [200, completion('I would rather not.'), 'BATON_MODEL_ANSWER_INVALID', 'transient'],
    [
      200,
      completion('{"concerns":[{"why":"x","likelihood":9,"consequence":1}]}'),
      'BATON_MODEL_ANSWER_INVALID',
      'transient',
    ],
    [200, completion('{"concerns":[null]}'), 'BATON_MODEL_ANSWER_INVALID', 'transient'],
    [429, 'slow down', 'BATON_MODEL_UNAVAILABLE', 'transient'],
    [503, 'away', 'BATON_MODEL_UNAVAILABLE', 'transient'],
    [401, 'who are you', 'BATON_MODEL_REFUSED', 'permanent'],
  ])('tells %i with %j as an error of its own', async (status, answer, code, kind) => {
    const { baseUrl } = await startEndpoint(status, answer)
    await expect(analyse(baseUrl)).rejects.toMatchObject({ code, kind })
  })

  it('gives up on an endpoint that does not answer', async () => {
    const { baseUrl } = await startEndpoint(200)
    await expect(analyse(baseUrl, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'BATON_MODEL_UNAVAILABLE',
    })
  })
})
