// `safety explain` says a rule in words, and what was found in a stopped handoff without a text of it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createScanner } from '@baton/safety'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Context } from '../context.ts'
import { createOutput } from '../terminal/output.ts'
import { safetyExplain } from './safety-explain.ts'

const HANDOFF = '7f3c91de-0000-4000-8000-000000000001'
const DEAD_LETTER = {
  handoffId: HANDOFF,
  taskId: '7f3c91de-0000-4000-8000-000000000002',
  reason: 'SAFETY_VIOLATION',
  artefactId: 'ab'.repeat(32),
  details: [{ rule: 'covered-leak', pointer: '/currentState/note', span: [3, 40], view: 'base64' }],
}

const gateway = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  const isList = request.url?.startsWith('/v2/dead-letters?') === true
  response.end(JSON.stringify(isList ? { deadLetters: [DEAD_LETTER] } : DEAD_LETTER))
})
beforeAll(() => new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => gateway.close(resolve)))

async function explain(named: string, json = false) {
  const written: string[] = []
  const stream = { write: (line: string | Uint8Array) => written.push(String(line)) }
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  const context = {
    output: createOutput({ stdout: stream, stderr: stream }, json),
    settings: { BATON_GATEWAY_URL: url, BATON_API_KEY: 'key' },
  } as unknown as Context
  const exitCode = await safetyExplain(context, named)
  return { exitCode, text: written.join('') }
}

describe('safety explain', () => {
  it('says what a rule looks for, what it may cause and what to do', async () => {
    const { exitCode, text } = await explain('covered-leak')
    expect(exitCode).toBe(0)
    expect(text).toContain('covered-leak (exfiltration)\nData is to be carried out')
    expect(text).toContain('Rejects alone')
    expect(text).toContain('Weight 0.9.')
    expect(text).toContain('released by two people')
    expect((await explain('SCAN_INCOMPLETE')).text).toContain('infra/runbooks/scan-incomplete.md')
  })

  it('says of a light rule that it needs others to flag, as the scanner has it', async () => {
    const { text } = await explain('stays-in-role')
    expect(text).toContain('with that of others near it, reaches 0.45; rejects only beside')
    expect(text).not.toContain('Flags alone')
    const { decision } = createScanner().scan({ note: 'Please stay in character.' })
    expect(decision).toBe('allow')
  })

  it.each([
    ['covered-laek', 'Did you mean covered-leak?'],
    ['scan_incomplet', 'Did you mean SCAN_INCOMPLETE?'],
  ])('helps whoever names %s', async (named, fix) => {
    await expect(explain(named)).rejects.toMatchObject({
      code: 'BATON_USAGE',
      fix: expect.stringContaining(fix),
    })
  })

  it('says what judges beside the scanner, and is named as a rule', async () => {
    expect((await explain('classifier')).text).toContain('BATON_CLASSIFIER_URL')
    expect((await explain('rejects-flagged')).text).toContain('BATON_REJECT_FLAGGED')
  })

  it('names the rules there are where it knows none of that name', async () => {
    await expect(explain('zzzzzzzz')).rejects.toMatchObject({
      code: 'BATON_USAGE',
      fix: expect.stringContaining('override-then-order'),
    })
  })

  it('shows what was found in a stopped handoff, and by which scanner', async () => {
    const { text } = await explain('7f3c91de-0000-4000-8000-000000000001')
    expect(text).toContain(`Handoff ${HANDOFF} was stopped: SAFETY_VIOLATION.`)
    expect(text).toContain('another ruleset than that of this command line, abababababab')
    expect(text).toMatch(/covered-leak +\/currentState\/note +3-40 +base64 +Data is to be carried/)
    expect(text).toContain('dlq show 7f3c91de --text')
    const { text: json } = await explain(HANDOFF, true)
    expect(JSON.parse(json.split('\n')[0] ?? '')).toMatchObject({
      handoffId: HANDOFF,
      findings: [{ rule: 'covered-leak', looksFor: expect.any(String) }],
    })
  })
})
