// The page verifies the bundle that it carries without a server, and shows records only as text.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { toBase64 } from '../bytes.ts'
import { fakeDocument } from '../../fixtures/document.ts'
import { honest } from '../../fixtures/bundle-changes.ts'
import { evidenceOf, exporter, policyText } from '../../fixtures/evidence.ts'
import { entryOf } from '../../fixtures/entry.ts'
import { TASK } from '../../fixtures/evidence-task.ts'
import { FILES } from './format.ts'
import { readTar } from './tar.ts'
import { writeBundle } from './write.ts'
import type { BundleParts } from './write.ts'

const path = fileURLToPath(new URL('../../verifier/generated/page.html', import.meta.url))
const page = readFileSync(path, 'utf8')

const between = (html: string, start: string, end: string): string => {
  const from = html.indexOf(start) + start.length
  return html.slice(from, html.indexOf(end, from))
}

const IDS = { verdict: '', source: '', checks: '', trace: '', 'policy-file': '', 'bundle-file': '' }

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
  expect(part('trace').textContent).toContain('the third message')
  expect(part('trace').textContent).not.toContain('a name to erase')
})

test('with the policy of the auditor it says valid', async () => {
  const part = open(await evidenceOf(honest))
  const input = part('policy-file')
  const bytes = Uint8Array.from(Buffer.from(policyText())).buffer
  input.files = [{ arrayBuffer: async () => bytes }]
  for (const listener of input.listeners) listener()
  await expect.poll(() => part('verdict').textContent).toContain('This bundle is valid')
  expect(part('source').textContent).toBe('your policy')
})

test('a changed bundle is tampered', async () => {
  const parts = await evidenceOf(honest)
  const bytes = writeBundle(parts, { exporter })
  const at = Buffer.from(bytes).indexOf('EXECUTION_STARTED')
  bytes[at] = 0x46
  const html = page.replace('%BATON_EVIDENCE_BUNDLE%', toBase64(bytes))
  expect(open(parts, html)('verdict').textContent).toContain('tampered')
})

test('a text that looks like markup stays a text', async () => {
  const attack = '</script><img src=x onerror=alert(1)><script>alert(2)</script>'
  const segments = [{ kind: 'message' as const, subject: null, text: attack }]
  const fromAgent = { agentId: '<b>bold</b>', agentVersion: '"><i>', executionId: '<u>' }
  const entries = [entryOf({ taskId: TASK, event: 'EXECUTION_COMPLETED', fromAgent, segments })]
  const parts = await evidenceOf({ entries, taskId: TASK })
  const html = htmlOf(parts)
  expect(html).not.toContain('onerror')
  const part = open(parts, html)
  expect(part('trace').textContent).toContain(attack)
  expect(new Set(part('trace').names())).toEqual(
    new Set(['trace', 'tr', 'td', 'div', 'span', 'pre']),
  )
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
