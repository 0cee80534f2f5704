// The page verifies the bundle that it carries without a server, shows records only as text, and answers what
// people ask of a task.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { toBase64 } from '../bytes.ts'
import { fakeDocument } from '../../fixtures/document.ts'
import { honest } from '../../fixtures/bundle-changes.ts'
import { decidedEvidence, FORGERIES } from '../../fixtures/decided-task.ts'
import { evidenceOf, exporter, policyText } from '../../fixtures/evidence.ts'
import { entryOf } from '../../fixtures/entry.ts'
import { MESSAGE, RELEASE, RESULT, STORY, STORY_ERASED } from '../../fixtures/evidence-story.ts'
import { TASK } from '../../fixtures/evidence-task.ts'
import { END_ATTACKS } from '../../fixtures/task-end-attacks.ts'
import type { MapOptions } from '../../fixtures/task-ends.ts'
import { SUBJECT_REF } from '../../fixtures/chain.ts'
import { exportedLine, FILES } from './format.ts'
import { readTar } from './tar.ts'
import { writeBundle } from './write.ts'
import type { BundleParts } from './write.ts'

const path = fileURLToPath(new URL('../../verifier/generated/page.html', import.meta.url))
const page = readFileSync(path, 'utf8')

const between = (html: string, start: string, end: string): string => {
  const from = html.indexOf(start) + start.length
  return html.slice(from, html.indexOf(end, from))
}

/** Every element of the page that has a name: what the script may fill. */
const IDS = Object.fromEntries([...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => [id, '']))

/** All of it but the bundle itself. */
const SHOWN = Object.keys(IDS).filter((id) => id !== 'bundle')

/** Opens the page of a bundle as a browser would, with nothing but the language around it. */
function open(parts: BundleParts, html = htmlOf(parts)) {
  const data = between(html, 'id="bundle">', '</script>')
  const script = between(html, '<script>', '</script>')
  const { part, document } = fakeDocument({ ...IDS, bundle: data })
  const globals = { document, TextDecoder, TextEncoder, Uint8Array, Uint32Array, Int8Array }
  runInNewContext(script, { ...globals, DataView, ArrayBuffer, atob, btoa })
  return part
}

function htmlOf(parts: BundleParts): string {
  const { files } = readTar(writeBundle(parts, { exporter, page }))
  return Buffer.from(files.find(({ name }) => name === FILES.page)?.bytes as Uint8Array).toString()
}

test('by itself it says that the bundle is whole, and that nobody vouches for it yet', async () => {
  const part = open(await evidenceOf(honest))
  expect(part('verdict').textContent).toContain('unproven')
  expect(part('source').textContent).toContain('proves nothing')
  expect(part('checks').textContent).not.toContain('failed')
  expect(part('texts').textContent).toContain('the third message')
  expect(part('agents').textContent).toContain('legal-analysisnot recorded; asked for: any')
  for (const id of SHOWN) expect(part(id).textContent).not.toContain('a name to erase')
})

type Part = ReturnType<typeof open>

/** Gives a file to the page as its reader does, and waits until the page has used it. */
async function give(part: Part, id: 'policy-file' | 'bundle-file', content: Uint8Array | string) {
  const input = part(id)
  const { buffer } = Uint8Array.from(Buffer.from(content))
  input.files = [{ arrayBuffer: async () => buffer }]
  part('verdict').textContent = 'waiting'
  for (const listener of input.listeners) listener()
  await vi.waitFor(() => expect(part('verdict').textContent).not.toBe('waiting'))
}

test('with the policy of the auditor it says valid', async () => {
  const part = open(await evidenceOf(honest))
  await give(part, 'policy-file', policyText())
  expect(part('verdict').textContent).toContain('This bundle is valid: nothing was changed')
  expect(part('source').textContent).toBe('your policy')
  expect([part('open').hidden, part('not-excluded').textContent]).toEqual([true, ''])
})

test('with a policy that names no exporter it says that later records are not excluded', async () => {
  const part = open(await evidenceOf(honest))
  await give(part, 'policy-file', policyText(['exporter']))
  expect(part('verdict').textContent).toContain('valid as far as it goes')
  expect(part('open').hidden).toBe(false)
  expect(part('not-excluded').textContent).toContain('records of the task after the last one here')
})

test('another bundle that was changed is tampered, and its story says where', async () => {
  const parts = await evidenceOf(honest)
  const part = open(parts)
  await give(part, 'policy-file', policyText())
  const bytes = writeBundle(parts, { exporter })
  bytes[Buffer.from(bytes).indexOf('"attempt":1') + 10] = 0x32
  await give(part, 'bundle-file', bytes)
  expect(part('verdict').textContent).toContain('tampered')
  // The changed record, and the next, which names the digest that it had.
  const items = part('story')
    .inner()
    .filter(({ name }) => name === 'li')
  const doubted = items.filter(({ textContent }) => textContent.includes('A check fails here:'))
  expect(doubted.map(({ id }) => id)).toEqual(['paragraph-1', 'paragraph-2'])
})

describe('decisions that nobody proves', () => {
  test.each(Object.entries(FORGERIES))('%s', async (_, { make, verdict }) => {
    const part = open(await evidenceOf(decidedEvidence(make())))
    await give(part, 'policy-file', policyText())
    expect(part('verdict').textContent).toContain(verdict)
    expect(part('verdict').textContent).not.toContain('is valid')
    expect(part('checks').textContent).toContain('DECISIONS: ')
  })
})

test('a changed bundle is tampered', async () => {
  const parts = await evidenceOf(honest)
  const bytes = writeBundle(parts, { exporter })
  const at = Buffer.from(bytes).indexOf('EXECUTION_STARTED')
  bytes[at] = 0x46
  const html = page.replace('%BATON_EVIDENCE_BUNDLE%', toBase64(bytes))
  expect(open(parts, html)('verdict').textContent).toContain('tampered')
})

const ATTACK = '</script><img src=x onerror=alert(1)><script>alert(2)</script>'

/** All that the page may make: nothing of them loads, runs or sends anything. */
const HARMLESS = new Set(
  'a article b br caption code dd div dl dt h3 li p pre span strong table tbody td th thead tr ul'.split(
    ' ',
  ),
)

test.each([
  ['as it is', ATTACK],
  [
    'in a message',
    JSON.stringify({ currentState: { [ATTACK]: [ATTACK] }, taskDescription: ATTACK }),
  ],
  ['in a turn', JSON.stringify({ turns: [{ content: ATTACK, name: ATTACK, role: ATTACK }] })],
])('a text that looks like markup stays a text: %s', async (_, text) => {
  const segments = [{ kind: 'message' as const, subject: null, text }]
  const fromAgent = { agentId: '<b>bold</b>', agentVersion: '"><i>', executionId: '<u>' }
  const toAgent = { agentType: 'javascript:alert(3)', agentVersion: '<svg onload=alert(4)>' }
  const act = { id: '5b0d2c4e-1f6a-4c3b-9e7d-8a9b0c1d2e01', actor: '<iframe>' }
  const changes = { fromAgent, toAgent, segments }
  const entries = [
    entryOf({ taskId: TASK, event: 'HANDOFF_APPROVED', ...changes, act }),
    entryOf({ taskId: TASK, event: 'EXECUTION_COMPLETED', ...changes }),
  ]
  const parts = await evidenceOf({ entries, taskId: TASK })
  const html = htmlOf(parts)
  expect(html).not.toContain('onerror')
  expect(html).not.toContain('<iframe>')
  const part = open(parts, html)
  expect(part('texts').textContent).toContain(ATTACK)
  expect(part('people').textContent).toContain('<iframe>')
  const made = SHOWN.flatMap((id) => part(id).inner())
  for (const { name } of made) expect(HARMLESS).toContain(name)
  for (const { href } of made.filter(({ name }) => name === 'a')) {
    expect(href).toMatch(/^#paragraph-\d+$/)
  }
})

test('what turns a line around or hides in it is written out', async () => {
  const text = 'paid \u202e000,1$\u202c in full\u200b\u0007'
  const segments = [{ kind: 'message' as const, subject: null, text }]
  const entries = [entryOf({ taskId: TASK, event: 'EXECUTION_COMPLETED', segments })]
  const part = open(await evidenceOf({ entries, taskId: TASK }))
  const shown = part('texts').textContent
  expect(shown).toContain(
    'paid \u27e8U+202E\u27e9000,1$\u27e8U+202C\u27e9 in full\u27e8U+200B\u27e9\u27e8U+0007\u27e9',
  )
  expect(shown).not.toMatch(/[\u0007\u200b\u202a-\u202e]/)
})

test('a message is shown by its parts, each turn with its role and its lines', async () => {
  const part = open(await storyParts())
  const texts = part('texts')
  const said = texts.inner().filter(({ className }) => className === 'words')
  expect(said.map(({ textContent }) => textContent)).toContain(
    'Which clauses oblige the licensee?\nName each one.',
  )
  const roles = texts.inner().filter(({ className }) => className === 'role')
  expect(roles.map(({ textContent }) => textContent)).toEqual(['user', 'assistant'])
  expect(texts.textContent).not.toContain(JSON.stringify(MESSAGE))
})

const storyParts = async (map: MapOptions = {}): Promise<BundleParts> => {
  const parts = await evidenceOf({ entries: STORY, taskId: TASK, erased: STORY_ERASED, map })
  return { ...parts, policy: policyText() + exportedLine('2026-11-22T14:33:02.123456Z') }
}

/** What a lawyer, an auditor and an engineer ask, and the words on the page that answer: where, and what. */
const QUESTIONS: readonly (readonly [
  question: string,
  where: string,
  answers: readonly string[],
])[] = [
  [
    'Who handed what to whom, and when?',
    'story',
    [
      '14 November 2023, 22:13:20.000000 UTCintake (version 1.4.2) handed the task to clause-extraction',
      'clause-extraction (version 1.4.2) handed the task to legal-analysis (asked for version ^2.0.0): handoff 2, following handoff 1.',
    ],
  ],
  [
    'What was checked, and what was refused for which reason?',
    'story',
    [
      'All six checks of the message passed: size, signature, form, completeness, budget and safety.',
      'Findings did not count because of exemption 5d0f2c8e-7d3c-8f0a-9d53-0a3f7a0a1c11.',
      'A policy of the receiver judged worse than that (REJECTS_FLAGGED).',
      'The classifier guard, version 3.1, said “allow” where the scanner alone said “allow”.',
      'It was refused, because the safety check found something that must not get through (SAFETY_VIOLATION).',
      'Nothing of it was executed.',
    ],
  ],
  [
    'Who decided that it could go on, when, and about what?',
    'people',
    ['anna', 'ben', 'handoff 2', '14 November 2023, 22:13:20.000005 UTC', 'SAFETY_VIOLATION'],
  ],
  [
    'What did the check say before and after the release?',
    'story',
    [
      'The safety check itself said \u201creject\u201d, with 2 findings.',
      `It was accepted because of approval override ${RELEASE}, which was given by anna (paragraph 6) and ben (paragraph 7). The first verdict, a refusal, is in paragraph 4; this is the second.`,
    ],
  ],
  [
    'Whose data was erased, at whose word, on what ground, and what is left?',
    'story',
    [
      'The erasure that dora had confirmed was completed, on the ground of GDPR_ART_17.',
      `It concerns 1 text of the person known here as ${SUBJECT_REF}`,
      'Their digests stay, so that the log can still be checked.',
    ],
  ],
  [
    'What did it cost, and who spent it?',
    'costs',
    ['intake$0.000247268344', 'legal-analysis$0.000725460180', 'All together$0.001291007984'],
  ],
  [
    'What came out, and what did each agent conclude, with which model?',
    '',
    [
      `Result${RESULT}`,
      'clause-extraction finished its work on handoff 1. It answered with 13 bytes.',
      `It says that it used the language model lexis-7b. It answered with 13 bytes. With it the task ended, in a result of ${RESULT.length} bytes.`,
      'Handoff 2, clause-extraction to legal-analysis: what the task came to',
    ],
  ],
  [
    'Who exported this, and when?',
    'facts',
    [
      'Exported22 November 2026, 14:33:02.123456 UTC, by baton/test/evidence (key',
      'an exporter of your policy',
    ],
  ],
  [
    'How well is it kept: when was it sealed, and who witnessed that?',
    'facts',
    [
      'Sealed14 November 2023, 22:30:00.000000 UTC, as seal 3 of 4 in the log baton/test/seals',
      'witness.example/w (14 November 2023, 22:30:01 UTC): enough for your policy',
      'to change one, the log and its witnesses would have to agree',
    ],
  ],
  [
    'Is anything missing or changed, and by which checks is that known?',
    'checks',
    [
      'against your policy',
      'holdsNo record of the task is missing from its middle, and none is changed',
      'holdsEvery record stands in the sealed tree of its chain',
      'holdsThe witnesses of your policy saw the seal log',
    ],
  ],
  [
    'Is anything missing at the end?',
    'facts',
    [
      'Is anything missing at the endComplete until 14 November 2023, 22:13:20.0000',
      'nothing of this task is missing, as the sealed map of tasks says.',
    ],
  ],
  [
    'Which versions ran, in which executions and which trace, and how did the task end?',
    '',
    [
      'intake1.4.2handoff 1d1a1e3f0-6d0b-4f1e-8a51-2f0c7b9e5a01',
      'legal-analysis2.1.0none',
      'legal-analysis (version 2.1.0) finished its work on handoff 2.',
      'Trace4bf92f3577b34da6a3ce929d0e0e4736',
      'Outcome2 handoffs: 2 carried out',
    ],
  ],
]

describe('twelve questions are answered from the page alone', () => {
  let part: Part
  beforeAll(async () => {
    part = open(await storyParts())
    await give(part, 'policy-file', policyText())
  })
  test.each(QUESTIONS)('%s', (_, where, answers) => {
    const whole = SHOWN.map((id) => part(id).textContent)
    const text = where === '' ? whole.join('\n') : part(where).textContent
    for (const answer of answers) expect(text).toContain(answer)
  })
})

test('a proven end is said in the verdict, and what came later stands by record', async () => {
  const part = open(await storyParts({ size: STORY.length - 3 }))
  expect(part('facts').textContent).toContain('As far as the bundle itself can say, complete until')
  await give(part, 'policy-file', policyText(['exporter']))
  expect(part('verdict').textContent).toMatch(
    /This bundle is valid: .* Complete until 14 November 2023, .*: nothing of this task is missing\./,
  )
  expect(part('facts').textContent).toContain(
    `1 record came later (paragraph ${STORY.length - 2}); whether others came with it is not said.`,
  )
  expect(part('not-excluded').textContent).toContain('records of the task that came after 2023-')
  const rows = part('trace')
    .inner()
    .filter(({ name, textContent }) => name === 'tr' && textContent.includes('later than the map'))
  expect(rows).toHaveLength(1)
})

test('a bundle whose log commits to no ends says whose word the end rests on', async () => {
  const part = open(await evidenceOf(honest))
  await give(part, 'policy-file', policyText())
  expect(part('facts').textContent).toContain(
    'The bundle holds nothing that proves it: its end rests on the exporter (an exporter of your policy)',
  )
  expect(part('verdict').textContent).not.toContain('Complete until')
})

test.each(END_ATTACKS)('a page says of %s that it is tampered', async (_, make) => {
  const part = open(await evidenceOf(honest))
  await give(part, 'policy-file', policyText(['exporter']))
  await give(part, 'bundle-file', await make())
  expect(part('verdict').textContent).toContain('tampered')
  expect(part('facts').textContent).not.toMatch(/complete until/i)
})

test('every record has a paragraph and a row of the same number', async () => {
  const part = open(await storyParts())
  const paragraphs = part('story')
    .inner()
    .filter(({ name }) => name === 'li')
  expect(paragraphs.map(({ id }) => id)).toEqual(STORY.map((_, at) => `paragraph-${at + 1}`))
  const links = part('trace')
    .inner()
    .filter(({ name }) => name === 'a')
  expect(links.map(({ href }) => href)).toEqual(STORY.map((_, at) => `#paragraph-${at + 1}`))
  const cells = part('trace')
    .inner()
    .filter(({ name }) => name === 'td')
  for (const { dataset } of cells) expect(dataset['column']).not.toBe('')
})

test('only its own script and style may run, and nothing makes markup of text', () => {
  const script = between(page, '<script>', '</script>')
  const style = between(page, '<style>', '</style>')
  const policy = between(page, 'http-equiv="Content-Security-Policy"', '>')
  const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')
  expect(policy).toContain(`default-src 'none'; script-src 'sha256-${hashOf(script)}'`)
  expect(policy).toContain(`style-src 'sha256-${hashOf(style)}'`)
  expect(script).not.toMatch(
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|node:/,
  )
})
