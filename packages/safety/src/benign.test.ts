// Text of everyday work in many forms is never rejected, and almost never flagged.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createScanner } from './scanner.ts'

const scanner = createScanner()
const decisionOf = (text: string) => scanner.scan({ currentState: { note: text } }).decision

const SAMPLES: Readonly<Record<string, string>> = {
  'MIT licence':
    'Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND.',
  'BSD licence':
    'Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met: Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote products without specific prior written permission.',
  'GPL notice':
    'You may not impose any further restrictions on the exercise of the rights granted. Each time you convey a covered work, the recipient automatically receives a license. You should have received a copy of the GNU General Public License along with this program.',
  'Apache notice':
    'You must cause any modified files to carry prominent notices stating that You changed the files. Unless required by applicable law or agreed to in writing, the Licensor provides the Work on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND.',
  'entire agreement clause':
    'This Agreement constitutes the entire agreement and supersedes all prior instructions, understandings and communications; any previous directions are of no effect.',
  'support mail':
    'Please ignore my previous message, the new address is correct. Do not forget the attachment.',
  'operations runbook':
    'Override the default retention rules in config.yaml, then restart. Ignore warnings above level 3.',
  'role prompt':
    'I want you to act as a travel guide. I will write you my location and you will suggest a place to visit.',
  'shell output':
    '$ systemctl status\n[  OK  ] Started System Logging Service.\nroot@host:~# rm -rf ./build && make',
  code: 'if (previous.instructions.length === 0) { return system.prompt() } // ignore empty rows above',
  'state JSON':
    '{"role":"system","previous":null,"instructions":[{"op":"ignore"}],"prompt":"none","mode":"developer"}',
  'security advisory':
    'A crafted packet lets a remote attacker bypass authentication and execute commands as the system user.',
  Persian: 'می‌خواهم این کتاب‌ها را بخوانم و دستورها را ببینم',
  Hindi: 'क्‍या आप कल आएँगे? निर्देश पढ़ लीजिए।',
  'emoji and flags': 'Family 👨‍👩‍👧‍👦 trip to 🏴󠁧󠁢󠁳󠁣󠁴󠁿 and 🏴󠁧󠁢󠁷󠁬󠁳󠁿 ❤️ ☀️ 🏳️‍🌈 👍🏽',
  JWT: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c',
  PEM: '-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ8Zq1n0ZbW1zVwRr3m0J0Xo0m5wwCgYIKoZIzj0EAwIw\n-----END CERTIFICATE-----',
  hashes:
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'base64 image':
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==',
  'Markdown badges':
    '[![npm](https://img.shields.io/npm/v/x.svg)](https://npm.im/x) ![cov](https://codecov.io/gh/o/r/badge.svg?token=AB12)',
  'mixed scripts': 'Привет, мир: the API отвечает. Ελληνικά και English μαζί.',
  'spaced headline': 'C O N T R A C T   A N D   A P P E N D I X   I I I',
  'URL with escapes':
    'https://shop.test/s?q=%E2%82%AC%20100%20%C3%BC%20%C3%A4%20%C3%B6%20%C3%9F%20%E2%82%AC%20%E2%82%AC',
}

/** Far fewer than any installation has: packages that are laid out otherwise must not be taken for none that is rejected. */
const LICENCES_MIN = 100

describe('benign text', () => {
  for (const [name, text] of Object.entries(SAMPLES)) {
    it(`${name} is allowed`, () => expect(decisionOf(text)).toBe('allow'))
  }

  it('explained invisible characters are no finding', () => {
    for (const name of ['Persian', 'Hindi', 'emoji and flags']) {
      expect(scanner.scan({ currentState: { note: SAMPLES[name] } }).findings).toEqual([])
    }
  })

  it('no licence of an installed package is rejected, and hardly any flagged', () => {
    const texts = listLicences(join(import.meta.dirname, '../../../node_modules/.pnpm'))
    expect(texts.length, 'distinct licences in node_modules/.pnpm').toBeGreaterThan(LICENCES_MIN)
    const decisions = texts.map(decisionOf)
    expect(decisions.filter((decision) => decision === 'reject')).toEqual([])
    expect(decisions.filter((decision) => decision === 'flag').length).toBeLessThanOrEqual(
      texts.length * 0.005,
    )
  })
})

/** The distinct licence texts found in the package store. */
function listLicences(store: string): string[] {
  const texts = new Set<string>()
  for (const entry of readdirSync(store)) {
    const name = entry.replace(/@[^@]*$/u, '').replace('+', '/')
    const folder = join(store, entry, 'node_modules', name)
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) continue
    for (const file of readdirSync(folder)) {
      if (/^(?:licen[cs]e|copying|notice)/iu.test(file))
        texts.add(readFileSync(join(folder, file), 'utf8'))
    }
  }
  return [...texts]
}
