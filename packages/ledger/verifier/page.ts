// The page in a bundle: verifies the bundle that it carries, or one that is dropped on it, and shows it.
import { parseAuditorPolicy } from '../src/bundle/auditor-policy.ts'
import { FILES } from '../src/bundle/format.ts'
import { visitRecords } from '../src/bundle/records.ts'
import type { BundleReport } from '../src/bundle/report.ts'
import { readTar } from '../src/bundle/tar.ts'
import { verifyBundle } from '../src/bundle/verify.ts'
import { decodeUtf8, encodeUtf8, fromBase64 } from '../src/bytes.ts'
import type { RecordBody } from '../src/record.ts'

/** What this page uses of a browser's document. */
interface PageElement {
  readonly dataset: Record<string, string>
  readonly files?: ArrayLike<{ arrayBuffer(): Promise<ArrayBuffer> }> | null
  textContent: string | null
  append(...children: (PageElement | string)[]): void
  replaceChildren(...children: (PageElement | string)[]): void
  addEventListener(event: 'change', listener: () => void): void
}
declare const document: {
  createElement(name: string): PageElement
  querySelector(selector: string): PageElement | null
}

// Everything from the bundle becomes a text node or an attribute's value, never markup.
function element(name: string, text = '', children: readonly PageElement[] = []): PageElement {
  const made = document.createElement(name)
  made.append(text, ...children)
  return made
}

const marked = (made: PageElement, kind: string): PageElement => {
  made.dataset['kind'] = kind
  return made
}

const find = (id: string): PageElement => document.querySelector(`#${id}`) as PageElement

function showReport(report: BundleReport, isTrusted: boolean): void {
  const verdict = isTrusted || report.verdict !== 'valid' ? report.verdict : 'unproven'
  const says =
    verdict === 'unproven'
      ? 'Whole in itself. Give your own policy below to know who vouches for it.'
      : `This bundle is ${report.verdict}.`
  find('verdict').replaceChildren(marked(element('strong', verdict), verdict), ` ${says}`)
  const checks = report.checks.map(({ title, result, note, findings }) => {
    const places = findings.map(({ rule, file, origin, seq, message }) =>
      element(
        'li',
        `${rule}: ${[file, origin, seq, message].filter((part) => part !== null).join(' · ')}`,
      ),
    )
    const label = marked(element('span', result), result)
    const inner = places.length > 0 ? [element('ul', '', places)] : []
    return element('li', '', [
      label,
      element('span', ` ${title}${note === null ? '' : ` (${note})`}`),
      ...inner,
    ])
  })
  find('checks').replaceChildren(...checks)
}

function showTrace(files: ReadonlyMap<string, Uint8Array>, report: BundleReport): void {
  const texts = textsOf(files.get(FILES.payloads))
  const rows: PageElement[] = []
  for (const name of [FILES.records, FILES.erasures]) {
    visitRecords(name, files.get(name) ?? new Uint8Array(0), ({ body, hashHex }) => {
      if (body !== undefined) rows.push(rowOf(body, hashHex, { texts, report }))
    })
  }
  find('trace').replaceChildren(...rows)
}

function textsOf(bytes: Uint8Array | undefined): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const line of (decodeUtf8(bytes ?? new Uint8Array(0)) ?? '').split('\n')) {
    try {
      const { origin, seq, segment, salted } = JSON.parse(line)
      const text = decodeUtf8((fromBase64(String(salted)) ?? new Uint8Array(0)).subarray(32))
      texts.set(`${origin} ${seq} ${segment}`, text ?? '')
    } catch {
      continue
    }
  }
  return texts
}

function rowOf(
  body: RecordBody,
  hashHex: string,
  { texts, report }: { readonly texts: ReadonlyMap<string, string>; readonly report: BundleReport },
): PageElement {
  const { origin, seq } = body
  const segments = body.payload.map(({ segment }) => {
    const found = report.segments.find(
      (one) => one.origin === origin && one.seq === seq && one.segment === segment,
    )
    const text = found?.status === 'present' ? (texts.get(`${origin} ${seq} ${segment}`) ?? '') : ''
    return element('div', '', [
      marked(element('span', found?.status ?? ''), found?.status ?? ''),
      element('pre', text),
    ])
  })
  const cost = body.cost ? (Number(body.cost.spentMicroUSD) / 1e6).toFixed(6) : ''
  const from = body.fromAgent?.agentId ?? ''
  const cells = [seq, body.recordedAt, body.event, `${from} → ${body.toAgent?.agentType ?? ''}`]
  const more = [body.reason ?? '', cost, body.act?.actor ?? '', body.handoffId, hashHex]
  const plain = [...cells, ...more].map((value) => element('td', String(value)))
  return element('tr', '', [...plain, element('td', '', segments)])
}

let bundle = new Uint8Array(0) as Uint8Array
let ownPolicy: Uint8Array | undefined

function show(): void {
  const files = new Map(readTar(bundle).files.map((file) => [file.name, file.bytes]))
  const policy = ownPolicy ?? files.get(FILES.policy) ?? encodeUtf8('quorum none\n')
  const parsed = parseAuditorPolicy(policy)
  find('source').textContent =
    ownPolicy === undefined ? 'the policy in the bundle, which proves nothing' : 'your policy'
  if (!parsed.ok) {
    find('verdict').textContent =
      `The policy cannot be read: line ${parsed.line}: ${parsed.message}`
    return
  }
  const now = Math.floor(Date.now() / 1000)
  const report = verifyBundle(bundle, { policy: parsed.policy, now, thorough: true })
  showReport(report, ownPolicy !== undefined)
  showTrace(files, report)
}

const bytesOf = async (input: PageElement): Promise<Uint8Array | undefined> => {
  const file = input.files?.[0]
  return file && new Uint8Array(await file.arrayBuffer())
}

function listen(id: string, take: (bytes: Uint8Array) => void): void {
  const input = find(id)
  input.addEventListener('change', () => {
    void bytesOf(input).then((bytes) => {
      if (bytes === undefined) return
      take(bytes)
      show()
    })
  })
}

listen('bundle-file', (bytes) => (bundle = bytes))
listen('policy-file', (bytes) => (ownPolicy = bytes))
bundle = fromBase64((find('bundle').textContent ?? '').trim()) ?? new Uint8Array(0)
show()
