#!/usr/bin/env node
// Verifies a baton-evidence/1 to 4 bundle offline on Node 20.12 or later; generated, do not edit.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createPublicKey, hash, verify } from "node:crypto";

// packages/ledger/src/bytes.ts
const STRICT_UTF_8 = new TextDecoder("utf-8", {
	fatal: true,
	ignoreBOM: true
});
const UTF_8 = new TextEncoder();
const HEX$1 = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SEXTETS = (/* @__PURE__ */ new Int8Array(128)).fill(-1);
for (let value = 0; value < 64; value += 1) SEXTETS[ALPHABET.charCodeAt(value)] = value;
const NIBBLES = (/* @__PURE__ */ new Int8Array(128)).fill(-1);
for (let value = 0; value < 16; value += 1) NIBBLES[value.toString(16).charCodeAt(0)] = value;
const CHUNK_BYTES$1 = 12288;
const encodeUtf8 = (text) => UTF_8.encode(text);
function decodeUtf8(bytes) {
	try {
		return STRICT_UTF_8.decode(bytes);
	} catch {
		return;
	}
}
const detached = (text) => JSON.parse(JSON.stringify(text));
function toHex(bytes) {
	let text = "";
	for (let at = 0; at < bytes.length; at += 1) text += HEX$1[bytes[at]];
	return text;
}
function fromHex(text) {
	const bytes = new Uint8Array(text.length >> 1);
	return putHex(text, bytes, 0) ? bytes : void 0;
}
function putHex(text, target, from) {
	const length = text.length >> 1;
	let nibbles = 0;
	for (let at = 0; at < length; at += 1) {
		const high = NIBBLES[text.charCodeAt(at * 2)] ?? -1;
		const low = NIBBLES[text.charCodeAt(at * 2 + 1)] ?? -1;
		nibbles |= high | low;
		target[from + at] = high * 16 + low;
	}
	return nibbles >= 0 && text.length % 2 === 0;
}
function isHex(text) {
	let nibbles = 0;
	for (let at = 0; at < text.length; at += 1) nibbles |= NIBBLES[text.charCodeAt(at)] ?? -1;
	return nibbles >= 0;
}
function toBase64(bytes) {
	let text = "";
	for (let from = 0; from < bytes.length; from += CHUNK_BYTES$1) text += btoa(String.fromCharCode(...bytes.subarray(from, from + CHUNK_BYTES$1)));
	return text;
}
function fromBase64(text) {
	if (text.length % 4 !== 0) return void 0;
	const padding = text.endsWith("==") ? 2 : Number(text.endsWith("="));
	const bytes = new Uint8Array(text.length / 4 * 3 - padding);
	const characters = text.length - padding;
	let bits = 0;
	let word = 0;
	let length = 0;
	for (let at = 0; at < characters; at += 1) {
		const sextet = SEXTETS[text.charCodeAt(at)] ?? -1;
		if (sextet < 0) return void 0;
		word = (word << 6 | sextet) & 65535;
		bits += 6;
		if (bits < 8) continue;
		bits -= 8;
		bytes[length] = word >> bits & 255;
		length += 1;
	}
	return (word & (1 << bits) - 1) === 0 ? bytes : void 0;
}
function concatBytes(parts) {
	const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
	let at = 0;
	for (const part of parts) {
		bytes.set(part, at);
		at += part.length;
	}
	return bytes;
}
function equalBytes(left, right) {
	if (left.length !== right.length) return false;
	for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false;
	return true;
}

// packages/ledger/src/sha256.ts
function sha256$1(bytes) {
	const digest = /* @__PURE__ */ new Uint8Array(32);
	putSha256(bytes, digest, 0);
	return digest;
}
function putSha256(bytes, target, from) {
	const text = hash("sha256", bytes, "binary");
	for (let at = 0; at < 32; at += 1) target[from + at] = text.charCodeAt(at);
}
const sha256Hex = (bytes) => hash("sha256", bytes, "hex");

// packages/ledger/src/batch-statement.ts
const batchStatementBytes = (statement) => {
	const { origin, firstSeq, lastSeq, lastHash } = statement;
	return encodeUtf8(`baton/batch/v1\n${origin}\n${firstSeq}\n${lastSeq}\n${lastHash}\n`);
};
const batchKeyIdOf = (publicKey) => toHex(sha256$1(publicKey)).slice(0, 16);

// packages/ledger/src/ledger-error.ts
var LedgerError = class extends Error {
	code;
	pointer;
	constructor(code, message, pointer = "") {
		super(message);
		this.name = "LedgerError";
		this.code = code;
		this.pointer = pointer;
	}
};

// packages/ledger/src/tenant-names.ts
const TENANT = "[a-z][a-z0-9-]{0,30}";
const OPERATOR_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}";
const OPERATOR = `(?:${TENANT}/)?${OPERATOR_NAME}`;
const isTenantName = (text) => WHOLE.test(text);
const WHOLE = new RegExp(`^${TENANT}$`);

// packages/ledger/src/people.ts
const ROLES = ["reviewer", "compliance"];
const ENTRY = new RegExp(String.raw`^(?<person>${OPERATOR}):(?<roles>[a-z+]{1,64}):(?<key>[A-Za-z0-9+/]{43}=)(?::(?<until>\d{4}-\d{2}-\d{2}))?$`);
const personKeyId = (publicKey) => sha256Hex(publicKey).slice(0, 16);
function readPersonEntry(entry) {
	const groups = ENTRY.exec(entry)?.groups;
	const publicKey = fromBase64(groups?.["key"] ?? "");
	if (groups === void 0 || publicKey === void 0) return "is not person:role+role:publicKey, optionally with :YYYY-MM-DD; `baton people key NAME` prints one";
	const { person = "", roles = "", until } = groups;
	const named = roles.split("+");
	const unknown = named.find((role) => !isRole$1(role));
	if (unknown !== void 0) return `names the role ${unknown}; there are ${ROLES.join(", ")}`;
	const untilMs = until === void 0 ? void 0 : Date.parse(`${until}T00:00:00Z`);
	if (untilMs !== void 0 && dayOf(untilMs) !== until) return `ends on ${until}, which is not a date`;
	return {
		person,
		roles: new Set(named.filter(isRole$1)),
		publicKey,
		untilMs
	};
}
const dayOf = (ms) => Number.isNaN(ms) ? void 0 : new Date(ms).toISOString().slice(0, 10);
const isRole$1 = (text) => ROLES.includes(text);

// packages/ledger/src/note/key.ts
const SIGNATURE_TYPES = {
	ed25519: 1,
	cosignature: 4
};
const isKeyName = (name) => name !== "" && name.isWellFormed() && !/[\s\u0085+\u0000-\u001f]/u.test(name);
const isKnownType = (type) => type === SIGNATURE_TYPES.ed25519 || type === SIGNATURE_TYPES.cosignature;
const keyMaterial = (type, publicKey) => concatBytes([new Uint8Array([type]), publicKey]);
const keyIdOf = (name, material) => toHex(sha256$1(concatBytes([encodeUtf8(`${name}\n`), material])).subarray(0, 4));
function verifierKey(name, type, publicKey) {
	if (!isKeyName(name) || publicKey.length !== 32) throw new LedgerError("BATON_KEY_INVALID", "a note key needs a name and 32 bytes");
	return {
		name,
		type,
		publicKey,
		keyId: keyIdOf(name, keyMaterial(type, publicKey))
	};
}
const formatVerifierKey = ({ name, keyId, type, publicKey }) => `${name}+${keyId}+${toBase64(keyMaterial(type, publicKey))}`;
function readVerifierKey(text) {
	const [name = "", keyId = "", encoded = ""] = splitKey(text);
	const material = fromBase64(encoded);
	const type = material?.[0];
	if (!(fromHex(keyId)?.length === 4 && material?.length === 33) || !isKnownType(type)) throw new LedgerError("BATON_KEY_INVALID", "a verifier key is name+id+base64 of a known type");
	const key = verifierKey(name, type, material.slice(1));
	if (key.keyId === keyId) return key;
	throw new LedgerError("BATON_KEY_INVALID", "the id of the verifier key is not that of its bytes");
}
function unknownKeyMaterial(text) {
	const [name = "", keyId = "", encoded = ""] = splitKey(text);
	const material = fromBase64(encoded);
	if (!isKeyName(name) || material === void 0 || material.length < 2) return void 0;
	return isKnownType(material[0]) || keyIdOf(name, material) !== keyId ? void 0 : encoded;
}
function splitKey(text) {
	const first = text.indexOf("+");
	const second = text.indexOf("+", first + 1);
	if (first < 0 || second < 0) return [];
	return [
		text.slice(0, first),
		text.slice(first + 1, second),
		text.slice(second + 1)
	];
}

// packages/ledger/src/tlog/checkpoint.ts
function readDecimal(text) {
	if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return void 0;
	const value = Number(text);
	return Number.isSafeInteger(value) ? value : void 0;
}
function parseCheckpoint(text) {
	const [origin = "", sizeLine = "", rootLine = "", ...extensions] = text.split("\n").slice(0, -1);
	const size = readDecimal(sizeLine);
	const root = fromBase64(rootLine);
	if (!text.endsWith("\n") || origin === "" || size === void 0) return void 0;
	if (root?.length !== 32 || extensions.includes("")) return void 0;
	return {
		origin,
		size,
		root,
		extensions
	};
}

// packages/ledger/src/tlog/policy.ts
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/;
var PolicyFault = class extends Error {};
function createUnknownKeys() {
	const materials = /* @__PURE__ */ new Set();
	return (text, what) => {
		const material = unknownKeyMaterial(text);
		if (material === void 0) return false;
		if (materials.has(material)) throw new PolicyFault(`the key of this ${what} is listed twice`);
		materials.add(material);
		return true;
	};
}
function createPolicyBuilder() {
	const logs = [];
	const witnesses = /* @__PURE__ */ new Map();
	const groups = /* @__PURE__ */ new Map();
	const grouped = /* @__PURE__ */ new Set();
	const unusable = /* @__PURE__ */ new Set();
	const isUnknown = createUnknownKeys();
	let quorum;
	const isNamed = (name) => witnesses.has(name) || groups.has(name) || unusable.has(name);
	function mustBeNew(name) {
		if (name === "none" || isNamed(name)) throw new PolicyFault("this name is taken");
	}
	function mustExist(name) {
		if (!isNamed(name)) throw new PolicyFault("a name is used before its line");
	}
	const takers = {
		log([text, , ...rest]) {
			if (text === void 0 || rest.length > 0) throw new PolicyFault("log <vkey> [<url>]");
			if (isUnknown(text, "log")) return;
			const key = readKey$1(text, SIGNATURE_TYPES.ed25519, "a log signs with key type 0x01");
			if (logs.some((other) => equalBytes(other.publicKey, key.publicKey))) throw new PolicyFault("the key of this log is listed twice");
			logs.push(key);
		},
		witness([name, text, , ...rest]) {
			if (name === void 0 || text === void 0 || rest.length > 0) throw new PolicyFault("witness <name> <vkey> [<url>]");
			mustBeNew(name);
			if (isUnknown(text, "witness")) return void unusable.add(name);
			const key = readKey$1(text, SIGNATURE_TYPES.cosignature, "a witness signs with key type 0x04");
			for (const other of witnesses.values()) if (equalBytes(other.publicKey, key.publicKey)) throw new PolicyFault("the key of this witness is listed twice");
			witnesses.set(name, key);
		},
		group([name, threshold, ...members]) {
			if (name === void 0 || threshold === void 0 || members.length === 0) throw new PolicyFault("group <name> all|any|<k> <name>...");
			mustBeNew(name);
			for (const member of members) {
				mustExist(member);
				if (grouped.has(member)) throw new PolicyFault("a name is a member of one group only");
				grouped.add(member);
			}
			groups.set(name, {
				threshold: readThreshold(threshold, members.length),
				members
			});
		},
		quorum([name, ...rest]) {
			if (name === void 0 || rest.length > 0) throw new PolicyFault("quorum <name>");
			if (quorum !== void 0) throw new PolicyFault("there is exactly one quorum line");
			if (name !== "none") mustExist(name);
			quorum = name === "none" ? null : name;
		}
	};
	return {
		line([keyword = "", ...rest]) {
			const take = Object.hasOwn(takers, keyword) ? takers[keyword] : void 0;
			if (take === void 0) throw new PolicyFault("a line starts with log, witness, group or quorum");
			take(rest);
		},
		policy: () => quorum === void 0 ? void 0 : {
			logs,
			witnesses,
			unusable,
			groups,
			quorum
		}
	};
}
function readKey$1(text, type, rule) {
	let key;
	try {
		key = readVerifierKey(text);
	} catch (error) {
		if (error instanceof LedgerError) throw new PolicyFault(error.message);
		throw error;
	}
	if (key.type === type) return key;
	throw new PolicyFault(rule);
}
function readThreshold(text, members) {
	if (text === "any") return 1;
	if (text === "all") return members;
	const threshold = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0;
	if (threshold >= 1 && threshold <= members) return threshold;
	throw new PolicyFault("a threshold is all, any or a number from 1 to the number of members");
}
const policyLines = (bytes) => {
	let text = "";
	for (const octet of bytes) text += String.fromCharCode(octet);
	return text.split("\n");
};
const policyItems = (line) => line.split(/[ \t]+/).filter((item) => item !== "").map((item) => decodeUtf8(Uint8Array.from(item, (octet) => octet.charCodeAt(0))) ?? item);
function parsePolicy(bytes) {
	const builder = createPolicyBuilder();
	const lines = policyLines(bytes);
	for (const [at, text] of lines.entries()) {
		const items = policyItems(text);
		if (items.length === 0 || items[0]?.startsWith("#")) continue;
		try {
			if (CONTROL.test(text)) throw new PolicyFault("the line holds a control character");
			builder.line(items);
		} catch (error) {
			if (!(error instanceof PolicyFault)) throw error;
			return {
				ok: false,
				line: at + 1,
				message: error.message
			};
		}
	}
	const policy = builder.policy();
	if (policy !== void 0) return {
		ok: true,
		policy
	};
	return {
		ok: false,
		line: lines.length,
		message: "there is exactly one quorum line"
	};
}
function meetsQuorum(policy, isWitnessed) {
	const has = (name) => {
		const witness = policy.witnesses.get(name);
		if (witness !== void 0) return isWitnessed(witness);
		const group = policy.groups.get(name);
		return group !== void 0 && group.members.filter(has).length >= group.threshold;
	};
	return policy.quorum === null || has(policy.quorum);
}

// packages/ledger/src/bundle/auditor-policy.ts
const PERSON_BEGINS = /^[ \t]*#[ \t]*baton-person/;
const PERSON = /^[ \t]*#[ \t]*baton-person[ \t]+([^ \t]+)[ \t]*$/;
const DIRECTIVE = /^[ \t]*#[ \t]*baton-key\b(.*)$/;
function parseAuditorPolicy(bytes) {
	const parsed = parsePolicy(bytes);
	if (!parsed.ok) return parsed;
	const batchKeys = /* @__PURE__ */ new Map();
	const exporters = [];
	const people = /* @__PURE__ */ new Map();
	const retired = [];
	const { logs } = parsed.policy;
	for (const [at, line] of policyLines(bytes).entries()) {
		if (PERSON_BEGINS.test(line) && !addPerson(people, PERSON.exec(line)?.[1] ?? "")) return {
			ok: false,
			line: at + 1,
			message: PERSON_FORM
		};
		const directive = DIRECTIVE.exec(line)?.[1];
		if (directive === void 0) continue;
		const read = readDirective(directive);
		if (read === void 0) return {
			ok: false,
			line: at + 1,
			message: DIRECTIVE_FORM
		};
		const { role, key, seals } = read;
		if (role === "batch") batchKeys.set(batchKeyIdOf(key.publicKey), key.publicKey);
		else if (role === "exporter") exporters.push(key);
		else if (isListed(key, [...logs, ...retired.map((one) => one.key)])) return {
			ok: false,
			line: at + 1,
			message: "this key of a log is listed twice"
		};
		else retired.push({
			key,
			seals
		});
	}
	const line = secondOfOneName(bytes, logs);
	if (line !== void 0) return {
		ok: false,
		line,
		message: ONE_KEY
	};
	return {
		ok: true,
		policy: {
			log: parsed.policy,
			batchKeys,
			retired,
			people,
			exporters
		}
	};
}
const DIRECTIVE_FORM = "# baton-key batch|exporter <vkey of type 0x01>, or retired <vkey> <seals>";
const ONE_KEY = "two keys of one log: name the one in force, and the others as # baton-key retired <vkey> <seals>";
const PERSON_FORM = "# baton-person <one entry of BATON_PEOPLE, each key once>";
function addPerson(people, entry) {
	const key = readPersonEntry(entry);
	if (typeof key === "string") return false;
	const keyId = personKeyId(key.publicKey);
	if (people.has(keyId)) return false;
	people.set(keyId, key);
	return true;
}
function secondOfOneName(bytes, logs) {
	const seen = /* @__PURE__ */ new Set();
	for (const [at, line] of policyLines(bytes).entries()) {
		const [keyword, vkey = ""] = policyItems(line);
		const name = logs.find((key) => keyword === "log" && formatVerifierKey(key) === vkey)?.name;
		if (name !== void 0 && seen.has(name)) return at + 1;
		if (name !== void 0) seen.add(name);
	}
}
const isListed = ({ publicKey }, keys) => keys.some((other) => equalBytes(other.publicKey, publicKey));
function readDirective(text) {
	const [role = "", vkey = "", ...rest] = policyItems(text);
	const [size = "", ...more] = role === "retired" ? rest : ["0", ...rest];
	const seals = readDecimal(size);
	if (!isRole(role) || seals === void 0 || more.length > 0) return void 0;
	try {
		const key = readVerifierKey(vkey);
		return key.type === SIGNATURE_TYPES.ed25519 ? {
			role,
			key,
			seals
		} : void 0;
	} catch (error) {
		if (error instanceof LedgerError) return void 0;
		throw error;
	}
}
const isRole = (text) => [
	"batch",
	"exporter",
	"retired"
].includes(text);

// packages/ledger/src/bundle/not-excluded.ts
const OPEN = {
	EXPORTER_SIGNATURE: "records of the task after the last one here (your policy names no exporter who vouches that these are all)",
	BATCH_SIGNATURE: "records that whoever seals made up (your policy names no append service that signs them as well)",
	WITNESS_QUORUM: "a different history shown to others (your policy asks for no witness)",
	RECEIPT: "a record that the operational database was told of and that is missing here (the bundle holds no receipt)",
	DECISIONS: "decisions by others than the people who are said to have made them (your policy names nobody whose decisions count)"
};
const JUDGED = /* @__PURE__ */ new Set([
	"valid",
	"incomplete",
	"clock"
]);
function notExcluded({ verdict, checks, end, heir }) {
	if (!JUDGED.has(verdict)) return [];
	const open = end === null ? OPEN : {
		...OPEN,
		EXPORTER_SIGNATURE: laterThan(end)
	};
	const unchecked = checks.flatMap(({ id, result }) => result === "skipped" ? open[id] ?? [] : []);
	return heir === void 0 ? unchecked : [heir, ...unchecked];
}
const laterThan = ({ until }) => `records of the task that came after ${until} (your policy names no exporter who vouches that these are all)`;
const isEndOpen = ({ checks, end }) => end === null && checks.some(({ id, result }) => id === "EXPORTER_SIGNATURE" && result === "skipped");

// packages/ledger/src/bundle/format-report.ts
const MARKS = {
	ok: "ok      ",
	failed: "FAILED  ",
	incomplete: "MISSING ",
	skipped: "skipped "
};
const SENTENCES$1 = {
	valid: "VALID: nothing was changed, added or taken away.",
	tampered: "TAMPERED: something was changed, added or taken away.",
	incomplete: "INCOMPLETE: nothing is wrong, but not everything that is needed is there.",
	clock: "CLOCK: nothing was changed, added or taken away; a clock was wrong, so its times do not say when.",
	"not-a-bundle": "NOT A BUNDLE: this file is something else.",
	unsupported: "UNSUPPORTED: this verifier does not know the version of the bundle."
};
const VALID_BUT_FOR_ITS_END = "VALID as far as it goes: nothing that is here was changed or added, and nothing is missing between.";
const EXIT_CODES = {
	valid: 0,
	tampered: 3,
	incomplete: 4,
	clock: 4,
	"not-a-bundle": 2,
	unsupported: 4
};
const safe = (text) => text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, "?");
function formatReport(report) {
	if (report.verdict === "not-a-bundle") return `${SENTENCES$1["not-a-bundle"]}\n`;
	const { taskId, records, sealedAt, checks, segments, verdict } = report;
	const lines = [
		`task     ${taskId ?? "several, as their records say"}`,
		`records  ${records}`,
		`sealed   ${sealedAt ?? "not yet"}`,
		""
	];
	for (const { result, title, note, findings } of checks) {
		lines.push(`${MARKS[result]} ${title}${note === null ? "" : ` (${note})`}`);
		for (const finding of findings) lines.push(`           ${formatFinding(finding)}`);
	}
	const counts = /* @__PURE__ */ new Map();
	for (const { status } of segments) counts.set(status, (counts.get(status) ?? 0) + 1);
	const texts = [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
	lines.push("", `texts    ${texts === "" ? "none" : texts}`, "");
	lines.push(verdict === "valid" && isEndOpen(report) ? VALID_BUT_FOR_ITS_END : SENTENCES$1[verdict]);
	if (report.end !== null) lines.push(...endLines(report.end, taskId === null));
	for (const open of report.notExcluded) lines.push(`NOT EXCLUDED: ${open}`);
	return `${lines.map(safe).join("\n")}\n`;
}
const LATER_SHOWN_MAX = 100;
function endLines({ until, later, absent }, areSeveral) {
	const shown = later.slice(0, LATER_SHOWN_MAX).map(({ origin, seq, recordedAt }) => {
		return `LATER: ${origin} record ${seq}, recorded ${recordedAt}; whether others came with it is not said`;
	});
	const rest = later.length - shown.length;
	return [
		`COMPLETE until ${until}: nothing of ${areSeveral ? "these tasks" : "this task"} is missing.`,
		...absent.map((taskId) => `ABSENT until ${until}: there was no record of the task ${taskId}.`),
		...shown,
		...rest === 0 ? [] : [`LATER: ${rest} more records`]
	];
}
function formatFinding({ rule, file, origin, seq, message }) {
	const record = seq === null ? "" : ` record ${seq}`;
	return `${rule}: ${[...[file, origin === null ? null : `${origin}${record}`].filter((part) => part !== null), message].join(": ")}`;
}

// packages/ledger/src/ed25519.ts
const SPKI_PREFIX = new Uint8Array([
	48,
	42,
	48,
	5,
	6,
	3,
	43,
	101,
	112,
	3,
	33,
	0
]);
const read$1 = /* @__PURE__ */ new WeakMap();
function readKey(publicKey) {
	const known = read$1.get(publicKey);
	if (known !== void 0) return known;
	const key = Buffer.from(concatBytes([SPKI_PREFIX, publicKey]));
	const made = createPublicKey({
		key,
		format: "der",
		type: "spki"
	});
	read$1.set(publicKey, made);
	return made;
}
function verifyEd25519(publicKey, message, signature) {
	if (publicKey.length !== 32 || signature.length !== 64) return false;
	try {
		return verify(null, message, readKey(publicKey), signature);
	} catch {
		return false;
	}
}

// packages/ledger/src/note/signature.ts
const TIMESTAMP_BYTES = 8;
const cosignedMessage = (text, timestamp) => encodeUtf8(`cosignature/v1\ntime ${timestamp}\n${text}`);
function verifyNoteSignature(key, text, bytes) {
	const { name, keyId, type, publicKey } = key;
	if (type === SIGNATURE_TYPES.ed25519) return verifyEd25519(publicKey, encodeUtf8(text), bytes) ? {
		name,
		keyId,
		type,
		timestamp: null
	} : void 0;
	if (bytes.length !== 72) return void 0;
	const timestamp = readTimestamp(bytes);
	if (timestamp === void 0) return void 0;
	return verifyEd25519(publicKey, cosignedMessage(text, timestamp), bytes.subarray(TIMESTAMP_BYTES)) ? {
		name,
		keyId,
		type,
		timestamp
	} : void 0;
}
function readTimestamp(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, TIMESTAMP_BYTES);
	const timestamp = view.getUint32(0) * 2 ** 32 + view.getUint32(4);
	return Number.isSafeInteger(timestamp) ? timestamp : void 0;
}

// packages/ledger/src/note/note.ts
const SIGNATURES_MAX = 100;
const LINE_START = "— ";
function splitNote(note) {
	const whole = decodeUtf8(note);
	if (whole === void 0 || /[\u0000-\u0009\u000b-\u001f]/.test(whole)) return void 0;
	const blank = whole.lastIndexOf("\n\n");
	if (blank < 0 || !whole.endsWith("\n")) return void 0;
	const lines = whole.slice(blank + 2).split("\n").slice(0, -1);
	if (lines.length === 0 || lines.length > SIGNATURES_MAX) return void 0;
	const signatures = lines.map(readLine);
	if (!signatures.every((signature) => signature !== void 0)) return void 0;
	return {
		text: whole.slice(0, blank + 1),
		signatures
	};
}
function readLine(line) {
	if (!line.startsWith(LINE_START)) return void 0;
	const [name = "", encoded = "", ...rest] = line.slice(2).split(" ");
	const bytes = fromBase64(encoded);
	if (rest.length > 0 || !isKeyName(name) || bytes === void 0 || bytes.length < 5) return void 0;
	return {
		name,
		keyId: toHex(bytes.subarray(0, 4)),
		bytes: bytes.subarray(4)
	};
}
function openNote(note, keys) {
	const split = splitNote(note);
	if (split === void 0) return {
		ok: false,
		reason: "MALFORMED",
		key: null
	};
	const signatures = /* @__PURE__ */ new Map();
	const unknown = [];
	for (const signature of split.signatures) {
		const label = `${signature.name}+${signature.keyId}`;
		const [key, second] = keys.filter(({ name, keyId }) => name === signature.name && keyId === signature.keyId);
		if (second !== void 0) return {
			ok: false,
			reason: "AMBIGUOUS_KEY",
			key: label
		};
		if (key === void 0) {
			if (!unknown.some((other) => isSameSignature(other, signature))) unknown.push(signature);
			continue;
		}
		if (signatures.has(label)) continue;
		const verified = verifyNoteSignature(key, split.text, signature.bytes);
		if (verified === void 0) return {
			ok: false,
			reason: "INVALID_SIGNATURE",
			key: label
		};
		signatures.set(label, verified);
	}
	if (signatures.size === 0) return {
		ok: false,
		reason: "NO_KNOWN_SIGNATURE",
		key: null
	};
	return {
		ok: true,
		text: split.text,
		signatures: [...signatures.values()],
		unknown
	};
}
const isSameSignature = (left, right) => left.name === right.name && left.keyId === right.keyId && equalBytes(left.bytes, right.bytes);

// packages/ledger/src/uuid.ts
const UUID$1 = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const VARIANT_AT = 16;
function uuidOfDigest(hex) {
	const variant = (Number.parseInt(hex.charAt(VARIANT_AT), 16) & 3 | 8).toString(16);
	return uuidOfHex(`${hex.slice(0, 12)}8${hex.slice(13, VARIANT_AT)}${variant}${hex.slice(17, 32)}`);
}
const uuidOfHex = (hex) => `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

// packages/ledger/src/rules.ts
const must = (expected, fits) => (value, problems) => {
	if (fits(value)) return;
	const message = value === void 0 ? "is missing" : "has a value that is not allowed";
	problems.push({
		pointer: "",
		message,
		fix: `Give ${expected}.`
	});
};
const matching = (expected, pattern) => must(expected, (value) => typeof value === "string" && pattern.test(value));
const integer = (min, max) => must(`a whole number from ${min} to ${max}`, (value) => Number.isSafeInteger(value) && value >= min && value <= max);
const oneOf = (...choices) => must(`one of ${choices.join(", ")}`, (value) => choices.includes(value));
const orNull = (rule) => (value, problems) => {
	if (value !== null) rule(value, problems);
};
const optional = (rule) => (value, problems) => {
	if (value !== void 0) rule(value, problems);
};
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
function object(members) {
	const rules = Object.entries(members);
	const known = new Set(Object.keys(members));
	const fix = `Give only ${Object.keys(members).join(", ")}.`;
	return (value, problems) => {
		if (!isObject(value)) {
			problems.push({
				pointer: "",
				message: "is not an object",
				fix: "Give a JSON object."
			});
			return;
		}
		let present = 0;
		for (const [key, rule] of rules) {
			const before = problems.length;
			const member = Object.hasOwn(value, key) ? value[key] : void 0;
			if (member !== void 0) present += 1;
			rule(member, problems);
			if (problems.length > before) placeUnder(problems, before, key);
		}
		const keys = Object.keys(value);
		if (keys.length === present) return;
		for (const key of keys) {
			if (known.has(key)) continue;
			problems.push({
				pointer: "",
				message: "has a member that is not allowed",
				fix
			});
		}
	};
}
const list = (rule, itemsMax) => (value, problems) => {
	if (!Array.isArray(value) || value.length > itemsMax) {
		const fix = `Give an array of at most ${itemsMax} items.`;
		problems.push({
			pointer: "",
			message: "is not such an array",
			fix
		});
		return;
	}
	value.forEach((item, index) => {
		const before = problems.length;
		rule(item, problems);
		if (problems.length > before) placeUnder(problems, before, index);
	});
};
function placeUnder(problems, from, step) {
	for (let at = from; at < problems.length; at += 1) {
		const problem = problems[at];
		problems[at] = {
			...problem,
			pointer: `/${step}${problem.pointer}`
		};
	}
}
const NAME$2 = /^[!-~](?:[ -~]{0,254}[!-~])?$/;
const name = matching("a name of 1 to 256 printable characters", NAME$2);
const uuid = matching("a lower-case UUID", UUID$1);
const count = integer(0, Number.MAX_SAFE_INTEGER);

// packages/ledger/src/canonical-json.ts
const DEPTH_MAX$1 = 32;
function canonicalJson(value) {
	return write$1(value, []);
}
function refuse(what, path) {
	const pointer = path.map((step) => `/${escapePointer(String(step))}`).join("");
	throw new LedgerError("BATON_CANONICAL_INVALID", `${what} has no canonical form`, pointer);
}
const escapePointer = (step) => step.replaceAll("~", "~0").replaceAll("/", "~1");
function write$1(value, path) {
	switch (typeof value) {
		case "string": return writeString(value, path);
		case "number": return Number.isFinite(value) ? JSON.stringify(value) : refuse("a non-finite number", path);
		case "boolean": return value ? "true" : "false";
		case "object":
			if (value === null) return "null";
			if (path.length >= DEPTH_MAX$1) return refuse(`nesting deeper than ${DEPTH_MAX$1}`, path);
			return Array.isArray(value) ? writeArray(value, path) : writeObject(value, path);
		default: return refuse(`a value of type ${typeof value}`, path);
	}
}
const writeString = (value, path) => value.isWellFormed() ? JSON.stringify(value) : refuse("a lone surrogate", path);
function writeArray(values, path) {
	let text = "[";
	for (let index = 0; index < values.length; index += 1) {
		path.push(index);
		text += `${index === 0 ? "" : ","}${write$1(values[index], path)}`;
		path.pop();
	}
	return `${text}]`;
}
function writeObject(value, path) {
	const prototype = Object.getPrototypeOf(value);
	if (prototype !== Object.prototype && prototype !== null) refuse("a class instance", path);
	if (Object.getOwnPropertySymbols(value).length > 0) refuse("a symbol key", path);
	const members = value;
	let text = "{";
	for (const key of Object.keys(members).sort()) {
		path.push(key);
		if (text.length > 1) text += ",";
		text += `${writeString(key, path)}:${write$1(members[key], path)}`;
		path.pop();
	}
	return `${text}}`;
}

// packages/ledger/src/instant.ts
const PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const MINUTE_LENGTH = 16;
const MICROS_PER_SECOND = 1e6;
const ZERO$1 = 48;
let parsed$1 = {
	minute: "",
	micros: NaN
};
const parseInstant = (instant) => PATTERN.test(instant) ? microsOfForm(instant) : void 0;
function microsOfForm(instant) {
	const minute = instant.slice(0, MINUTE_LENGTH);
	if (minute !== parsed$1.minute) parsed$1 = {
		minute,
		micros: Date.parse(`${minute}:00Z`) * 1e3
	};
	let micros = 0;
	for (let at = 17; at < instant.length - 1; at += 1) {
		const digit = instant.charCodeAt(at) - ZERO$1;
		if (digit >= 0) micros = micros * 10 + digit;
	}
	if (Number.isNaN(parsed$1.micros) || micros >= 60 * MICROS_PER_SECOND) return void 0;
	return parsed$1.micros + micros;
}

// packages/ledger/src/seal-entry.ts
const HANDOVERS_MAX = 120;
function readSealEntry(bytes) {
	const text = decodeUtf8(bytes);
	if (text === void 0) return void 0;
	let entry;
	try {
		entry = JSON.parse(text);
		if (!isSealEntry(entry) || canonicalJson(entry) !== text) return void 0;
	} catch {
		return;
	}
	return entry;
}
const hasMembers = (value, names) => typeof value === "object" && value !== null && Object.keys(value).sort().join() === names;
function isSealEntry(value) {
	if (!hasVersion(value)) return false;
	const { at, chains } = value;
	if (typeof at !== "string" || parseInstant(at) === void 0) return false;
	if (!Array.isArray(chains) || chains.length === 0 || !chains.every(isSealedChain)) return false;
	if ("tasks" in value && !areSealedTasks(value["tasks"], {
		at,
		chains
	})) return false;
	if ("handovers" in value && !arePlaces(value["handovers"])) return false;
	if ("handover" in value && !isHandover(value["handover"])) return false;
	return chains.every((chain, index) => index === 0 || chains[index - 1].origin < chain.origin);
}
function hasVersion(value) {
	if (hasMembers(value, "at,chains,v")) return value["v"] === 1;
	if (hasMembers(value, "at,chains,tasks,v")) return value["v"] === 2;
	return (hasMembers(value, "at,chains,handovers,v") || hasMembers(value, "at,chains,handovers,tasks,v") || hasMembers(value, "at,chains,handover,handovers,v") || hasMembers(value, "at,chains,handover,handovers,tasks,v")) && value["v"] === 3;
}
const arePlaces = (value) => Array.isArray(value) && value.length > 0 && value.length <= 120 && value.every((place, at) => isCount(place) && place > (at === 0 ? 0 : value[at - 1]));
function isHandover(value) {
	if (!hasMembers(value, "from,proof,to")) return false;
	const { from, to, proof } = value;
	if (typeof from !== "string" || typeof to !== "string") return false;
	return typeof proof === "string" && fromBase64(proof)?.length === 64;
}
function isSealedChain(value) {
	if (!hasMembers(value, "origin,root,size")) return false;
	const { origin, root, size } = value;
	const isRoot = typeof root === "string" && fromBase64(root)?.length === 32;
	return typeof origin === "string" && origin !== "" && isRoot && isCount(size);
}
function areSealedTasks(value, { at: sealedAt, chains }) {
	const isCut = hasMembers(value, "at,begins,root,seals,sizes");
	if (!isCut && !hasMembers(value, "at,root,seals,sizes")) return false;
	const { at, root, seals, sizes, begins = [] } = value;
	if (typeof at !== "string" || parseInstant(at) === void 0 || at > sealedAt) return false;
	if (typeof root !== "string" || fromBase64(root)?.length !== 32 || !isCount(seals)) return false;
	if (!Array.isArray(sizes) || sizes.length !== chains.length) return false;
	return sizes.every((size, at) => {
		return isCount(size) && size <= chains[at].size;
	}) && (!isCut || areBegins(begins, sizes));
}
const areBegins = (begins, sizes) => Array.isArray(begins) && begins.length === sizes.length && begins.every((begin, at) => isCount(begin) && begin <= sizes[at]) && begins.some((begin) => begin > 0);
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

// packages/ledger/src/bundle/format.ts
const BUNDLE_FORMAT = "baton-evidence/1";
const BUNDLE_FORMAT_WITH_ENDS = "baton-evidence/2";
const BUNDLE_FORMAT_OF_RESULTS = "baton-evidence/3";
const BUNDLE_FORMAT_WITH_HANDOVERS = "baton-evidence/4";
const FILES = {
	manifest: "manifest.json",
	manifestNote: "manifest.note",
	manifestDigest: "manifest.sha256",
	records: "records.jsonl",
	erasures: "erasures.jsonl",
	erasureLists: "erasure-lists.json",
	proof: "proof.json",
	seal: "seal.json",
	sealProof: "seal.tlog-proof",
	batches: "batches.json",
	receipts: "receipts.json",
	payloads: "payloads.jsonl",
	policy: "policy",
	page: "index.html"
};
const UNLISTED$1 = [
	FILES.manifest,
	FILES.manifestNote,
	FILES.manifestDigest
];
const SHA256_DIGITS = 64;
const digest = must("64 lower-case hex digits", (value) => typeof value === "string" && value.length === SHA256_DIGITS && isHex(value));
const base64 = matching("base64", /^[A-Za-z0-9+/]*={0,2}$/);
const text = must("a text", (value) => typeof value === "string");
const MANY = Number.MAX_SAFE_INTEGER;
function tuple(...rules) {
	const isTuple = (value) => Array.isArray(value) && value.length === rules.length;
	const shape = must("a tuple", isTuple);
	return (value, problems) => {
		shape(value, problems);
		if (!isTuple(value)) return;
		for (let at = 0; at < rules.length; at += 1) rules[at]?.(value[at], problems);
	};
}
const manifestRule = object({
	format: text,
	taskId: orNull(uuid),
	records: count,
	payloads: oneOf("included", "withheld"),
	files: list(object({
		name,
		bytes: count,
		sha256: digest
	}), MANY)
});
const chainsRule = list(object({
	origin: name,
	size: count,
	checkpoint: orNull(text),
	leaves: list(tuple(count, digest), MANY),
	hashes: list(base64, MANY)
}), MANY);
const NODES_OF_TASK_MAX = 25;
const TASKS_MAX = 1e4;
const NODE_DIGITS_MAX = 1112;
const endsShape = object({
	tasks: list(uuid, TASKS_MAX),
	nodes: list(must("at most 833 bytes as base64", (value) => typeof value === "string" && value.length <= NODE_DIGITS_MAX), TASKS_MAX * NODES_OF_TASK_MAX)
});
const endsRule = (value, problems) => {
	endsShape(value, problems);
	if (problems.length > 0) return;
	const { tasks, nodes } = value;
	const isBounded = () => nodes.length <= tasks.length * NODES_OF_TASK_MAX;
	must("at most 25 nodes for each task", isBounded)(value, problems);
};
const handoversRule = list(object({
	entry: text,
	path: list(base64, 53),
	note: text
}), 120);
const PROOF_RULES = /* @__PURE__ */ new Map([
	[BUNDLE_FORMAT, chainsRule],
	[BUNDLE_FORMAT_WITH_ENDS, object({
		chains: chainsRule,
		ends: endsRule
	})],
	[BUNDLE_FORMAT_OF_RESULTS, object({
		chains: chainsRule,
		ends: orNull(endsRule)
	})],
	[BUNDLE_FORMAT_WITH_HANDOVERS, object({
		chains: chainsRule,
		ends: orNull(endsRule),
		handovers: handoversRule
	})]
]);
const batchesRule = list(object({
	origin: name,
	firstSeq: count,
	lastSeq: count,
	lastHash: digest,
	keyId: name,
	signature: base64
}), MANY);
const receiptsRule = list(object({
	origin: name,
	seq: count,
	recordHash: digest,
	recordedAt: name
}), MANY);
const erasureListsRule = list(list(tuple(name, count, count), MANY), MANY);
const payloadRule = object({
	origin: name,
	seq: count,
	segment: count,
	salted: base64
});
const exporterText = (manifest, format) => `${format}\n${toBase64(sha256$1(manifest))}\n`;
const manifestDigest = (manifest, note) => encodeUtf8(`${sha256Hex(concatBytes([manifest, note ?? /* @__PURE__ */ new Uint8Array(0)]))}\n`);

// packages/ledger/src/bundle/checks/container.ts
const NO_RECORDS = {};
const KNOWN = Object.values(FILES);
const checkContainer = ({ evidence, log }) => {
	const { files, faults } = evidence.container;
	for (const { name, message } of faults) log.fail({ file: name }, message);
	const seen = /* @__PURE__ */ new Set();
	for (const { name } of files) {
		if (!KNOWN.includes(name)) log.fail({ file: name }, "a bundle has no file of this name");
		else if (seen.has(name)) log.fail({ file: name }, "the file stands twice");
		seen.add(name);
	}
	return NO_RECORDS;
};
const checkManifestDigest = ({ evidence: { files }, log }) => {
	const manifest = files.get(FILES.manifest) ?? /* @__PURE__ */ new Uint8Array(0);
	const expected = manifestDigest(manifest, files.get(FILES.manifestNote));
	const digest = files.get(FILES.manifestDigest);
	if (digest === void 0 || !equalBytes(digest, expected)) log.fail({ file: FILES.manifestDigest }, "it is not the digest of the manifest and its note");
	return NO_RECORDS;
};
const checkVersion = ({ evidence, log }) => {
	const text = decodeUtf8(evidence.files.get(FILES.manifest) ?? /* @__PURE__ */ new Uint8Array(0)) ?? "";
	const format = /"format":"([^"]*)"/.exec(text)?.[1];
	if (PROOF_RULES.has(format ?? "")) return NO_RECORDS;
	const known = [...PROOF_RULES.keys()].join(" or ");
	log.fail({ file: FILES.manifest }, `the version is not ${known}`);
	return NO_RECORDS;
};
const checkManifest = ({ evidence, log }) => {
	const { manifest, files } = evidence;
	if (manifest === void 0) {
		log.fail({ file: FILES.manifest }, "it is missing or cannot be read");
		return NO_RECORDS;
	}
	for (const { name, bytes, sha256 } of manifest.files) {
		const file = files.get(name);
		if (file === void 0) log.fail({ file: name }, "the file is missing");
		else if (file.length !== bytes) log.fail({ file: name }, "the file has another length");
		else if (sha256Hex(file) !== sha256) log.fail({ file: name }, "the file has another digest");
	}
	const order = manifest.files.map(({ name }) => name);
	const listed = [...files.keys()].filter((name) => !UNLISTED$1.includes(name));
	for (const name of listed) if (!order.includes(name)) log.fail({ file: name }, "the file is not listed");
	if (order.join() !== KNOWN.filter((name) => order.includes(name)).join()) log.fail({ file: FILES.manifest }, "the list is not in the order of the files");
	if (manifest.payloads === "included" !== files.has(FILES.payloads)) log.fail({ file: FILES.payloads }, "the manifest says otherwise about texts");
	let records = 0;
	return {
		record: ({ file }) => records += Number(file === FILES.records),
		end() {
			if (records === manifest.records) return;
			log.fail({ file: FILES.records }, `the manifest counts ${manifest.records} records`);
		}
	};
};
const checkExporterSignature = ({ evidence, log }) => {
	const { files, policy } = evidence;
	if (policy.exporters.length === 0) {
		log.skip("your policy names no exporter");
		return NO_RECORDS;
	}
	const place = { file: FILES.manifestNote };
	const opened = openNote(files.get(FILES.manifestNote) ?? /* @__PURE__ */ new Uint8Array(0), policy.exporters);
	if (!opened.ok) log.fail(place, "no exporter of your policy signed it");
	else if (opened.text !== textOf(evidence)) log.fail(place, "the signature is for another manifest");
	else log.note(opened.signatures.map(({ name }) => name).join(", "));
	return NO_RECORDS;
};
const textOf = ({ files, manifest }) => exporterText(files.get(FILES.manifest) ?? encodeUtf8(""), manifest?.format ?? "");

// packages/ledger/src/listed-people.ts
const LISTED = "PERSON";
const LISTED_AS = "people";
const TEXT = /^(?<person>[^:]+):[a-z+]*:(?<keyId>[0-9a-f]{16})(?::.*)?$/;
function createListedPeople() {
	const keys = /* @__PURE__ */ new Set();
	let completeFrom = Infinity;
	return {
		next({ event, operation, recordedAt }) {
			if (event !== "SETTINGS_CHANGED" || !Array.isArray(operation?.details)) return;
			const listed = operation.details.filter(({ code }) => code === LISTED);
			for (const { value } of listed) {
				const { person, keyId } = TEXT.exec(value ?? "")?.groups ?? {};
				keys.add(detached(`${person} ${keyId}`));
			}
			if (operation.subject === "people" && listed.length > 0) completeFrom = Math.min(completeFrom, parseInstant(recordedAt) ?? Infinity);
		},
		completeFrom: () => completeFrom,
		has: (person, keyId) => keys.has(`${person} ${keyId}`)
	};
}

// packages/ledger/src/recorded-decision.ts
const DECIDED_AS = {
	RELEASE_APPROVED: "reviewer",
	DEAD_LETTER_DISCARDED: "reviewer",
	HANDOFF_APPROVED: "reviewer",
	APPROVAL_REFUSED: "reviewer",
	LEGAL_HOLD_SET: "compliance",
	LEGAL_HOLD_LIFTED: "compliance",
	ERASURE_REQUESTED: "compliance",
	ERASURE_COMPLETED: "compliance"
};
const isDecision = (event) => typeof event === "string" && Object.hasOwn(DECIDED_AS, event);
const statementOf = ({ event, taskId, handoffId, person }, { keyId, signedAt, content }) => encodeUtf8(`baton/decision/v1\n${event}\n${taskId}\n${handoffId ?? "-"}\n${person}\n${keyId}\n${signedAt}\n${content}\n`);
function keyFault({ event, person }, { keyId, signedAt }, people) {
	const key = people.get(keyId);
	if (key === void 0) return "unknown_key";
	if (key.person !== person) return "other_person";
	if (!key.roles.has(DECIDED_AS[event])) return "role";
	return key.untilMs !== void 0 && !(Date.parse(signedAt) < key.untilMs) ? "expired_key" : void 0;
}
function isSignedBy(decision, signed, people) {
	const publicKey = people.get(signed.keyId)?.publicKey;
	const signature = fromBase64(signed.signature);
	if (publicKey === void 0 || signature === void 0) return false;
	return verifyEd25519(publicKey, statementOf(decision, signed), signature);
}
const actIdOf = ({ signature }) => uuidOfDigest(sha256Hex(encodeUtf8(`baton/act/v1\n${signature}`)));
const ENDED_MAX_MS = 6048e5;
function endedFault({ keyId }, people, atMs) {
	const { untilMs = Infinity } = people.get(keyId) ?? {};
	return untilMs === Infinity || atMs < untilMs + ENDED_MAX_MS ? void 0 : "expired_key";
}
const signedAs = (event) => event === "ERASURE_DEFERRED" ? "ERASURE_REQUESTED" : event;
function entryFault(entry, people, atMs) {
	const { taskId, act } = entry;
	const event = signedAs(entry.event);
	if (!isDecision(event)) return void 0;
	if (act?.signed === void 0) return "unsigned";
	const { signed } = act;
	if (act.id !== actIdOf(signed)) return "signature";
	const decision = {
		event,
		taskId,
		handoffId: DECIDED_AS[event] === "compliance" ? null : entry.handoffId,
		person: act.actor
	};
	const fault = keyFault(decision, signed, people);
	if (fault !== void 0) return fault;
	if (!isSignedBy(decision, signed, people)) return "signature";
	return endedFault(signed, people, atMs);
}

// packages/ledger/src/release-votes.ts
const INTERRUPTED = ["POISON", "UNRECORDABLE"];
const votersNeeded = (reason) => INTERRUPTED.includes(reason) ? 1 : 2;
const EFFECTS = /* @__PURE__ */ new Set([
	"HANDOFF_ACCEPTED",
	"EXECUTION_STARTED",
	"EXECUTION_COMPLETED",
	"EXECUTION_FAILED"
]);
const WORDS$1 = {
	unknown: "it rests on a release that no record gives",
	later: "it rests on a release that was given later",
	other: "it rests on the release of another handoff",
	ended: "it rests on a release from before the handoff was stopped again",
	reason: "it names another reason than the one that the handoff was stopped for"
};
function createReleaseVotes() {
	const rounds = createRounds();
	const uses = createUses(rounds);
	const open = /* @__PURE__ */ new Map();
	const wrong = [];
	function release(record, isWhole) {
		const { epoch, reason } = record;
		const handoffId = detached(record.handoffId);
		const id = typeof record.release === "string" ? detached(record.release) : void 0;
		if (id === void 0 && record.event === "HANDOFF_RELEASED") return;
		if (id !== void 0) uses.give(id, record);
		const one = {
			...placeOf$2(record),
			handoffId,
			epoch,
			reason: reason && detached(reason),
			id
		};
		open.set(handoffId, [...open.get(handoffId) ?? [], {
			...one,
			isWhole
		}]);
	}
	function goOn({ handoffId, epoch, release: id }) {
		const waiting = open.get(handoffId);
		if (waiting === void 0) return;
		const isUsed = (one) => epoch > one.epoch || id !== void 0 && one.id === id;
		const { used = [], rest } = Object.groupBy(waiting, (one) => isUsed(one) ? "used" : "rest");
		wrong.push(...used.flatMap((one) => faultsOf(one, rounds, true)));
		if (rest === void 0) open.delete(handoffId);
		else open.set(detached(handoffId), rest);
	}
	return {
		next(record, isWhole) {
			const { event } = record;
			if (event === "RELEASE_APPROVED") rounds.vote(record);
			else if (event === "DEAD_LETTERED") rounds.stop(record);
			else if (event === "HANDOFF_RELEASED" || event === "HANDOFF_REDACTED") release(record, isWhole);
			else uses.use(record, isWhole);
			if (EFFECTS.has(event)) goOn(record);
		},
		finish: () => [
			...wrong,
			...[...open.values()].flat().flatMap((one) => faultsOf(one, rounds, false)),
			...uses.finish()
		]
	};
}
function createRounds() {
	const voters = /* @__PURE__ */ new Map();
	const reasons = /* @__PURE__ */ new Map();
	const stopped = /* @__PURE__ */ new Map();
	return {
		vote({ handoffId, epoch, act }) {
			const ballot = ballotOf(handoffId, epoch);
			const known = voters.get(ballot) ?? /* @__PURE__ */ new Set();
			voters.set(ballot, known.add(detached(String(act?.actor))));
		},
		stop({ handoffId, epoch, reason }) {
			const id = detached(handoffId);
			reasons.set(ballotOf(id, epoch), reason && detached(reason));
			stopped.set(id, Math.max(epoch, stopped.get(id) ?? 0));
		},
		votes: ({ handoffId, epoch }) => voters.get(ballotOf(handoffId, epoch))?.size ?? 0,
		reason: ({ handoffId, epoch }) => reasons.get(ballotOf(handoffId, epoch)),
		lastStop: (handoffId) => stopped.get(handoffId)
	};
}
function faultsOf(one, rounds, wentOn) {
	const { origin, seq, handoffId, id, isWhole } = one;
	const reason = rounds.reason(one);
	const found = reason === void 0 || reason === one.reason ? [] : [WORDS$1.reason];
	if (isWhole || rounds.lastStop(handoffId) !== void 0) {
		const known = reason ?? (wentOn && isWhole ? null : one.reason);
		const needed = id === void 0 ? votersNeeded(known) : votersNeeded(null);
		const votes = rounds.votes(one);
		const counted = wentOn ? `${votes} had voted when it went on` : `${votes} voted for it`;
		if (votes < needed) found.push(`it takes the votes of ${needed} people, and ${counted}`);
	}
	return found.map((message) => ({
		origin,
		seq,
		message
	}));
}
function createUses(rounds) {
	const given = /* @__PURE__ */ new Map();
	const early = [];
	const wrong = [];
	function faultOf({ origin, seq, handoffId, release, isWhole }) {
		const handoffs = given.get(release);
		if (handoffs === void 0) return isWhole ? [{
			origin,
			seq,
			message: WORDS$1.unknown
		}] : [];
		return [{
			origin,
			seq,
			message: handoffs.has(handoffId) ? WORDS$1.later : WORDS$1.other
		}];
	}
	return {
		give(id, { handoffId, epoch }) {
			given.set(id, (given.get(id) ?? /* @__PURE__ */ new Map()).set(detached(handoffId), epoch));
		},
		use(record, isWhole) {
			const { handoffId, epoch, release } = record;
			if (typeof release !== "string") return;
			const givenIn = given.get(release)?.get(handoffId);
			if (givenIn === void 0) {
				const named = {
					handoffId: detached(handoffId),
					release: detached(release)
				};
				early.push({
					...placeOf$2(record),
					...named,
					isWhole
				});
				return;
			}
			const stoppedIn = rounds.lastStop(handoffId) ?? 0;
			if (stoppedIn > givenIn && epoch > stoppedIn) wrong.push({
				...placeOf$2(record),
				message: WORDS$1.ended
			});
		},
		finish: () => [...wrong, ...early.flatMap(faultOf)]
	};
}
const ballotOf = (handoffId, epoch) => `${detached(handoffId)} ${epoch}`;
const placeOf$2 = ({ origin, seq }) => ({
	origin: detached(origin),
	seq
});

// packages/ledger/src/judge-decisions.ts
const NOTHING = [];
function createDecisionJudge({ people, isWhole }) {
	const counts = {
		trusted: 0,
		untrusted: 0,
		unsigned: 0,
		wrong: 0
	};
	const beginning = createBeginning(isWhole);
	const senders = createSenders();
	const votes = createReleaseVotes();
	const plans = createPlans(isWhole === void 0 ? void 0 : "no_plan");
	const listed = createListedPeople();
	const strangers = [];
	const used = /* @__PURE__ */ new Set();
	function faultOf(record) {
		const { event, act } = record;
		if (PLANS.has(event)) plans.asked(record);
		const fault = recordFault(record, people);
		if (fault !== void 0 && KINDS[fault] === "wrong") return fault;
		if (event === "ERASURE_COMPLETED") return plans.faultOf(record, beginning.isWhole(record)) ?? fault;
		if (fault !== void 0 || PLANS.has(event)) return fault;
		const { id } = act;
		if (used.has(id)) return "used";
		used.add(detached(id));
	}
	function judge(record) {
		const fault = faultOf(record) ?? (senders.decided(record) ? "own" : void 0);
		const kind = fault === void 0 ? "trusted" : KINDS[fault];
		const decision = kind === "unproven" ? "untrusted" : kind;
		counts[decision] += 1;
		if (fault === "unknown_key") meet(record);
		if (fault === void 0 || fault === "unknown_key" || kind === "trusted") return {
			decision,
			findings: NOTHING
		};
		return {
			decision,
			findings: [{
				...placeOf$1(record),
				kind,
				message: WORDS[fault]
			}]
		};
	}
	function meet(record) {
		const { actor = "", signed } = record.act ?? {};
		strangers.push({
			...placeOf$1(record),
			recordedAt: parseInstant(record.recordedAt) ?? -Infinity,
			person: detached(actor),
			keyId: detached(signed?.keyId ?? "")
		});
	}
	function strangersFinding(one) {
		const { origin, seq, recordedAt, person, keyId } = one;
		if (!(beginning.areChainsWhole() && recordedAt >= listed.completeFrom()) || listed.has(person, keyId)) return {
			origin,
			seq,
			kind: "unproven",
			message: WORDS.unknown_key
		};
		counts.untrusted -= 1;
		counts.wrong += 1;
		return {
			origin,
			seq,
			kind: "wrong",
			message: UNLISTED
		};
	}
	return {
		next(record) {
			votes.next(record, beginning.isWhole(record));
			listed.next(record);
			const owned = senders.sent(record);
			counts.trusted -= owned.length;
			counts.wrong += owned.length;
			const own = owned.map((place) => ({
				...place,
				kind: "wrong",
				message: WORDS.own
			}));
			if (!isDecision(signedAs(record.event))) return {
				decision: void 0,
				findings: own
			};
			const { decision, findings } = judge(record);
			return {
				decision,
				findings: [...own, ...findings]
			};
		},
		finish: () => [...strangers.splice(0).map(strangersFinding), ...votes.finish().map((one) => ({
			...one,
			kind: "wrong"
		}))],
		tally: () => ({ ...counts })
	};
}
const PLANS = /* @__PURE__ */ new Set(["ERASURE_REQUESTED", "ERASURE_DEFERRED"]);
const KINDS = {
	unsigned: "unsigned",
	unknown_key: "unproven",
	role: "unproven",
	expired_key: "unproven",
	clock: "unproven",
	other_person: "wrong",
	other_content: "wrong",
	signature: "wrong",
	used: "wrong",
	own: "wrong",
	same_person: "wrong",
	unplanned: "wrong",
	no_plan: "unproven"
};
const WORDS = {
	unsigned: "nobody signed this decision",
	unknown_key: "the decision is signed with a key that is none of those that are trusted here",
	role: "the decision is signed with a key that has not the role for it here",
	expired_key: "the decision is signed with a key that had ended long before it was recorded",
	clock: "the decision is signed at a time that cannot be",
	other_person: "the decision names another person than its key belongs to",
	other_content: "the signature is over another decision",
	signature: "the signature is wrong: it is not over this decision",
	used: "the signature is that of an earlier decision, which it is recorded for already",
	own: "who decided about it had sent it",
	same_person: "one person alone had this erased: who planned it confirmed it",
	unplanned: "this erasure was carried out, and no record plans it",
	no_plan: "this erasure was carried out, and no record that is here plans it"
};
const UNLISTED = "the decision is signed with no key of this person that this log ever listed, and the auditor lists every key before it records what it decided";
const placeOf$1 = ({ origin, seq }) => ({
	origin: detached(origin),
	seq
});
function recordFault(record, people) {
	if (signedOf(record) === void 0) return record.act?.signed === void 0 ? "unsigned" : "signature";
	return entryFault(record, people, (parseInstant(record.recordedAt) ?? Infinity) / 1e3);
}
const FORMS = {
	keyId: /^[0-9a-f]{16}$/,
	signedAt: /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
	content: /^[0-9a-f]{64}$/,
	signature: /^[A-Za-z0-9+/]{86}==$/
};
function signedOf({ act }) {
	const { signed } = act ?? {};
	if (typeof act?.id !== "string" || typeof act.actor !== "string") return void 0;
	return Object.entries(FORMS).every(([name, form]) => {
		const value = signed?.[name];
		return typeof value === "string" && form.test(value);
	}) && signed !== void 0 && isTime(signed.signedAt) ? signed : void 0;
}
function isTime(signedAt) {
	const ms = Date.parse(signedAt);
	return !Number.isNaN(ms) && new Date(ms).toISOString() === signedAt;
}
function createBeginning(isTaskWhole) {
	const origins = /* @__PURE__ */ new Set();
	let areChainsWhole = isTaskWhole === void 0;
	return {
		areChainsWhole: () => areChainsWhole,
		isWhole(record) {
			const { origin, seq, taskSeq } = record;
			if (!origins.has(origin)) {
				origins.add(detached(origin));
				areChainsWhole &&= seq === 0;
			}
			return areChainsWhole || taskSeq === 0 || isTaskWhole?.(record) === true;
		}
	};
}
function createPlans(missing) {
	const askedBy = /* @__PURE__ */ new Map();
	return {
		asked({ handoffId, act }) {
			const actor = typeof act?.actor === "string" ? detached(act.actor) : void 0;
			const known = askedBy.get(handoffId) ?? /* @__PURE__ */ new Set();
			askedBy.set(detached(handoffId), known.add(actor));
		},
		faultOf({ handoffId, act }, isWhole) {
			const known = askedBy.get(handoffId);
			if (known === void 0) return isWhole ? "unplanned" : missing;
			return known.has(act?.actor) ? "same_person" : void 0;
		}
	};
}
const ENDED = /* @__PURE__ */ new Set([
	"EXECUTION_COMPLETED",
	"HANDOFF_CANCELED",
	"HANDOFF_EXPIRED",
	"APPROVAL_REFUSED",
	"DEAD_LETTER_DISCARDED"
]);
function createSenders() {
	const senders = /* @__PURE__ */ new Map();
	const waiting = /* @__PURE__ */ new Map();
	function sent(record) {
		const { handoffId, event, sentBy } = record;
		if (event === "HANDOFF_REVISED") waiting.delete(handoffId);
		if (typeof sentBy !== "string") return [];
		const known = senders.get(handoffId);
		if (known?.has(sentBy) !== true) senders.set(detached(handoffId), /* @__PURE__ */ new Set([...known ?? [], detached(sentBy)]));
		const own = waiting.get(handoffId)?.filter(({ actor }) => actor === sentBy) ?? [];
		waiting.delete(handoffId);
		return own.map(({ origin, seq }) => ({
			origin,
			seq
		}));
	}
	return {
		sent(record) {
			const own = sent(record);
			if (ENDED.has(record.event) && !isDecision(record.event)) senders.delete(record.handoffId);
			return own;
		},
		decided(record) {
			const { event, handoffId, act } = record;
			if (!isDecision(event) || DECIDED_AS[event] !== "reviewer") return false;
			const actor = detached(act?.actor ?? "");
			const isOwn = senders.get(handoffId)?.has(actor) === true;
			if (ENDED.has(event)) senders.delete(handoffId);
			else if (!isOwn && !senders.has(handoffId)) waiting.set(detached(handoffId), [...waiting.get(handoffId) ?? [], {
				...placeOf$1(record),
				actor
			}]);
			return isOwn;
		}
	};
}

// packages/ledger/src/bundle/checks/decisions.ts
const checkDecisions = ({ evidence: { policy }, log }) => {
	const { people } = policy;
	const begun = /* @__PURE__ */ new Set();
	const judge = createDecisionJudge({
		people,
		isWhole: ({ taskId }) => begun.has(taskId)
	});
	const found = [];
	return {
		record({ body }) {
			if (body === void 0) return;
			if (body.taskSeq === 0) begun.add(detached(body.taskId));
			found.push(...judge.next(body).findings);
		},
		end() {
			found.push(...judge.finish());
			const decisions = Object.values(judge.tally()).some((count) => count > 0);
			if (people.size > 0) for (const finding of found) write(finding, log);
			else if (decisions || found.length > 0) log.skip("your policy names nobody whose decisions count");
		}
	};
};
function write({ origin, seq, kind, message }, log) {
	if (kind === "wrong") log.fail({
		origin,
		seq
	}, message);
	else log.lack({
		origin,
		seq
	}, message);
}

// packages/ledger/src/bundle/checks/joined.ts
const SALT_BYTES$1 = 32;
const DEPTH_MAX = 64;
const CHANGES = ["HANDOFF_REDACTED", "HANDOFF_REVISED"];
const checkJoined = ({ evidence, log }) => {
	const task = {
		answers: /* @__PURE__ */ new Map(),
		handoffs: /* @__PURE__ */ new Set(),
		parents: /* @__PURE__ */ new Set(),
		changed: /* @__PURE__ */ new Set(),
		joins: [],
		isWhole: false
	};
	return {
		record({ file, body }) {
			if (file === FILES.records && body !== void 0) add(task, body);
		},
		end() {
			const joins = task.joins.filter(({ handoffId }) => !task.changed.has(handoffId));
			if (joins.length === 0) return;
			const texts = textsOf(evidence);
			for (const join of joins) {
				for (const handoffId of join.joins) {
					if (task.handoffs.has(handoffId) || !task.isWhole) continue;
					log.lack(join.place, `it joins the handoff ${handoffId}, of which there is no record`);
				}
				const fault = faultOf$1(join, task, texts);
				if (fault !== void 0) log.fail(join.place, fault);
			}
		}
	};
};
const labelOf = ({ origin, seq }, segment) => `${origin} ${seq} ${segment}`;
function add(task, body) {
	const { event, parentHandoffId, joins, act, payload } = body;
	const handoffId = addTo(task.handoffs, body.handoffId);
	task.isWhole ||= body.taskSeq === 0;
	if (typeof parentHandoffId === "string") addTo(task.parents, parentHandoffId);
	if (CHANGES.includes(event)) addTo(task.changed, handoffId);
	if (event === "TASK_RESUMED" && act !== void 0) task.changed.add(detached(act.id));
	const answer = payload.findLast(({ kind }) => kind === "result");
	if (event === "EXECUTION_COMPLETED" && answer !== void 0) task.answers.set(detached(handoffId), detached(labelOf(body, answer.segment)));
	const message = payload.find(({ kind }) => kind === "message");
	if (event !== "HANDOFF_ACCEPTED" || !Array.isArray(joins) || message === void 0) return;
	const place = {
		file: FILES.records,
		origin: detached(body.origin),
		seq: body.seq
	};
	const text = labelOf(body, message.segment);
	task.joins.push({
		place,
		handoffId: detached(handoffId),
		joins: joins.map(detached),
		text
	});
}
function addTo(all, id) {
	if (all.has(id)) return id;
	const own = detached(id);
	all.add(own);
	return own;
}
function textsOf({ payloads = [] }) {
	const stored = new Map(payloads.map((one) => [`${one.origin} ${one.seq} ${one.segment}`, one.salted]));
	return (label) => {
		const salted = fromBase64(stored.get(label) ?? "");
		return salted && decodeUtf8(salted.subarray(SALT_BYTES$1));
	};
}
function parsed(text) {
	try {
		return JSON.parse(text ?? "");
	} catch {
		return;
	}
}
function faultOf$1(join, task, texts) {
	const message = parsed(texts(join.text));
	if (message === void 0) return void 0;
	const branches = membersOf$2(membersOf$2(message)?.["currentState"])?.["branches"];
	return faultIn(branches, {
		...task,
		joined: new Set(join.joins),
		texts
	}, 0);
}
function faultIn(branches, known, depth) {
	const told = Object.values(membersOf$2(branches) ?? {});
	if (told.length === 0 || depth > DEPTH_MAX) return "it was told of no branch";
	return told.map((branch) => faultOfBranch(branch, known, depth)).find((one) => one !== void 0);
}
function faultOfBranch(branch, known, depth) {
	const { handoffId, outcome, result, cut } = membersOf$2(branch) ?? {};
	const id = typeof handoffId === "string" ? handoffId : "";
	if (id !== "" && depth === 0 && !known.joined.has(id)) return `it was told of the handoff ${JSON.stringify(id)}, which it does not join`;
	if (outcome !== "COMPLETED") return void 0;
	const label = known.answers.get(id);
	if (label === void 0) return "it was told of a result that no record committed to";
	if (isAnswer(known.texts(label), {
		result,
		cut
	})) return void 0;
	if (known.parents.has(id) && isOfBranches(result, cut)) {
		const within = membersOf$2(result)?.["branches"];
		return within === void 0 ? void 0 : faultIn(within, known, depth + 1);
	}
	return `it was told of another result than the handoff ${id} came to`;
}
function isAnswer(text, { result, cut }) {
	const answer = parsed(text);
	if (text === void 0 || answer === void 0 || isSame(answer, result, 0)) return true;
	const digest = membersOf$2(cut)?.["sha256"];
	return typeof digest === "string" && result === null && digestsOf(text, answer).includes(digest);
}
const isOfBranches = (result, cut) => result === null ? membersOf$2(cut) !== void 0 : Object.keys(membersOf$2(result) ?? {}).join(" ") === "branches";
function digestsOf(text, answer) {
	const forms = [text];
	try {
		forms.push(canonicalText(answer));
	} catch {}
	return forms.map((form) => sha256Hex(encodeUtf8(form)));
}
function canonicalText(value) {
	if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
	const members = membersOf$2(value);
	if (members === void 0) return JSON.stringify(value);
	return `{${Object.keys(members).toSorted().map((name) => `${JSON.stringify(name)}:${canonicalText(members[name])}`).join(",")}}`;
}
const membersOf$2 = (value) => typeof value === "object" && value !== null && !Array.isArray(value) ? value : void 0;
function isSame(one, other, depth) {
	if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
	if (depth > DEPTH_MAX || Array.isArray(one) !== Array.isArray(other)) return false;
	const members = Object.entries(one);
	return members.length === Object.keys(other).length && members.every(([name, value]) => Object.hasOwn(other, name) && isSame(value, other[name], depth + 1));
}

// packages/ledger/src/erasure-list.ts
function compareSegments(left, right) {
	if (left[0] !== right[0]) return left[0] < right[0] ? -1 : 1;
	return left[1] - right[1] || left[2] - right[2];
}
function erasureOf(subjectRef, places) {
	const lines = [...places].sort(compareSegments).map((place) => `${place.join(" ")}\n`);
	const listSha256 = toHex(sha256$1(encodeUtf8(lines.join(""))));
	return {
		subjectRef,
		segments: places.length,
		listSha256
	};
}

// packages/ledger/src/audit-entry.ts
const SEGMENT_KINDS = [
	"message",
	"personal",
	"result",
	"task-result"
];

// packages/ledger/src/audit-event.ts
const EVENT_NUMBERS = {
	HANDOFF_ACCEPTED: 1,
	HANDOFF_REJECTED: 2,
	EXECUTION_STARTED: 3,
	EXECUTION_COMPLETED: 4,
	EXECUTION_FAILED: 5,
	ROLLED_BACK: 6,
	DEAD_LETTERED: 7,
	HUMAN_ESCALATED: 8,
	HANDOFF_EXPIRED: 9,
	HANDOFF_CANCELED: 10,
	HANDOFF_APPROVED: 11,
	APPROVAL_REFUSED: 12,
	RELEASE_APPROVED: 13,
	HANDOFF_RELEASED: 14,
	DEAD_LETTER_DISCARDED: 15,
	SENDER_ASKED: 16,
	HANDOFF_REDACTED: 17,
	HANDOFF_REVISED: 18,
	TASK_RESUMED: 19,
	ERASURE_REQUESTED: 20,
	ERASURE_COMPLETED: 21,
	ERASURE_DEFERRED: 22,
	HANDOFF_RETURNED: 24,
	HANDOFF_BLOCKED: 25,
	CANCEL_REQUESTED: 26,
	HANDOFF_REROUTED: 27,
	REDRIVE_STARTED: 28,
	REDRIVE_STOPPED: 29,
	EVIDENCE_EXPORTED: 32,
	VERIFY_RUN: 33,
	PARTITION_DROPPED: 35,
	LEGAL_HOLD_SET: 36,
	LEGAL_HOLD_LIFTED: 37,
	SEND_REFUSED: 38,
	FAN_OUT_FAILED: 39,
	API_KEY_MADE: 40,
	API_KEY_REVOKED: 41,
	TENANT_ADDED: 42,
	GRANT_MADE: 43,
	GRANT_REVOKED: 44,
	SETTINGS_CHANGED: 45,
	MIGRATIONS_APPLIED: 46,
	KEY_ROTATED: 47,
	TEXT_READ: 48,
	RULESET_ACTIVATED: 49,
	BACKUP_TAKEN: 50,
	RESTORED: 51,
	RESTORE_DRILLED: 52
};
const isAuditEvent = (value) => typeof value === "string" && Object.hasOwn(EVENT_NUMBERS, value);

// packages/ledger/src/check-entry.ts
const SEGMENTS_MAX = 256;
const SUBJECTS_MAX = 256;
const JOINS_MAX = 256;
const EXEMPTIONS_MAX = 32;
const OPERATION_DETAILS_MAX = 64;
const SEGMENT_CHARACTERS_MAX = 4194304;
const outcome = oneOf("passed", "failed", "skipped");
const wellFormed = (value) => typeof value === "string" && value.length <= 4194304 && value.isWellFormed();
const isTenant = (value) => typeof value === "string" && isTenantName(value);
const code = matching("an upper-case code", /^[A-Z][A-Z0-9_]{0,63}$/);
const sha256 = matching("64 lower-case hex digits", /^[0-9a-f]{64}$/);
const IDENTIFIER = /^[!-~]{1,256}$/;
const identifier = matching("1 to 256 printable characters without spaces", IDENTIFIER);
const STRUCTURAL_MEMBERS = {
	event: must("an event the log knows", isAuditEvent),
	taskId: uuid,
	handoffId: uuid,
	parentHandoffId: orNull(uuid),
	attempt: integer(0, 1e6),
	epoch: count,
	fromAgent: object({
		agentId: name,
		agentVersion: name,
		executionId: name
	}),
	toAgent: object({
		agentType: name,
		agentVersion: orNull(name)
	}),
	traceparent: matching("a W3C traceparent", /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/),
	verdicts: orNull(object({
		size: outcome,
		signature: outcome,
		schema: outcome,
		completeness: outcome,
		budget: outcome,
		safety: object({
			decision: oneOf("allow", "flag", "reject", "skipped"),
			artefactId: orNull(name),
			findings: integer(0, 1e6)
		})
	})),
	reason: orNull(code),
	cost: orNull(object({
		spentMicroUSD: count,
		remainingMicroUSD: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
		promptTokens: count,
		completionTokens: count
	})),
	tenant: optional(must("the name of a tenant", isTenant)),
	sentBy: optional(name),
	act: optional(object({
		id: uuid,
		actor: name,
		signed: optional(object({
			keyId: matching("16 lower-case hex digits", /^[0-9a-f]{16}$/),
			signedAt: matching("a time with milliseconds", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
			content: matching("64 lower-case hex digits", /^[0-9a-f]{64}$/),
			signature: matching("64 bytes in base64", /^[A-Za-z0-9+/]{86}==$/)
		}))
	})),
	classifier: optional(object({
		name: identifier,
		version: orNull(identifier),
		decision: orNull(oneOf("allow", "flag", "reject")),
		scanner: oneOf("allow", "flag"),
		failure: orNull(code)
	})),
	exemptions: optional(list(uuid, EXEMPTIONS_MAX)),
	policy: optional(code),
	release: optional(uuid),
	model: optional(name),
	times: optional(integer(1, Number.MAX_SAFE_INTEGER)),
	joins: optional(list(uuid, JOINS_MAX)),
	fanOut: optional(object({
		onFailure: oneOf("wait", "skip", "fail"),
		waitFor: orNull(integer(1, JOINS_MAX)),
		branches: list(object({
			handoffId: orNull(uuid),
			outcome: code,
			reason: orNull(code)
		}), JOINS_MAX)
	})),
	stream: optional(object({
		chunks: count,
		sha256: matching("64 lower-case hex digits", /^[0-9a-f]{64}$/)
	})),
	operation: optional(object({
		subject: name,
		right: identifier,
		address: orNull(identifier),
		details: list(object({
			code,
			value: orNull(identifier),
			sha256: orNull(sha256)
		}), OPERATION_DETAILS_MAX)
	})),
	erasure: optional(object({
		subjectRef: uuid,
		segments: count,
		listSha256: matching("64 lower-case hex digits", /^[0-9a-f]{64}$/)
	}))
};
const subjectId = matching("an opaque id of 1 to 256 characters", /^[^\n]{1,256}$/u);
const entryRule = object({
	...STRUCTURAL_MEMBERS,
	segments: list(object({
		kind: oneOf(...SEGMENT_KINDS),
		subject: orNull(subjectId),
		subjects: optional(list(subjectId, SUBJECTS_MAX)),
		text: must("text without lone surrogates, at most 4 Mi characters", wellFormed)
	}), SEGMENTS_MAX)
});
const recordRule = object({
	...STRUCTURAL_MEMBERS,
	v: must("1", (value) => value === 1),
	origin: name,
	seq: count,
	previousRecordHash: sha256,
	recordId: uuid,
	recordedAt: must("a time with six fraction digits", (value) => typeof value === "string" && parseInstant(value) !== void 0),
	taskSeq: count,
	previousTaskRecordHash: sha256,
	payload: list(object({
		segment: count,
		kind: oneOf(...SEGMENT_KINDS),
		subjectRef: uuid,
		commitment: sha256,
		bytes: count,
		zstdBytes: optional(count)
	}), 256),
	keyIds: object({
		batch: name,
		wrap: name
	})
});
function isRecordBody(value) {
	const problems = [];
	recordRule(value, problems);
	return problems.length === 0;
}

// packages/ledger/src/bundle/checks/records.ts
const GENESIS = "0".repeat(64);
const placeOf = ({ file, line, body }) => body === void 0 ? { file: `${file}:${line}` } : {
	file,
	origin: body.origin,
	seq: body.seq
};
const checkRecordForm = ({ evidence: { files, thorough }, log }) => {
	for (const name of [FILES.records, FILES.erasures]) {
		const bytes = files.get(name);
		if (bytes === void 0) log.fail({ file: name }, "the file is missing");
		else if (bytes.length > 0 && bytes.at(-1) !== 10) log.fail({ file: name }, "the last line is cut");
	}
	return { record(record) {
		const { body, isPlain } = record;
		if (isPlain || body !== void 0 && (!thorough || isRecordBody(body))) return;
		log.fail(placeOf(record), "the line is not a version 1 record");
	} };
};
const checkRecordCanonical = ({ evidence: { thorough }, log }) => {
	if (!thorough) {
		log.skip("not asked for");
		return {};
	}
	return { record(record) {
		if (record.body === void 0 || record.isPlain || isCanonical(record)) return;
		log.fail(placeOf(record), "the same content has another canonical form");
	} };
};
function isCanonical({ text, body }) {
	try {
		return canonicalJson(body) === text;
	} catch {
		return false;
	}
}
const checkRecordOrder = ({ log }) => {
	let before;
	const runs = /* @__PURE__ */ new Set();
	return { record(record) {
		if (record.body === void 0) return;
		const { origin, seq } = record.body;
		const last = before?.body;
		if (last?.origin !== origin || before?.file !== record.file) {
			const run = `${record.file} ${origin}`;
			if (runs.has(run)) log.fail(placeOf(record), "the chain is interrupted");
			runs.add(run);
		} else if (seq <= last.seq) log.fail(placeOf(record), "the record stands twice or out of order");
		before = record;
	} };
};
const checkRecordTask = ({ evidence: { manifest }, log }) => {
	const taskId = manifest?.taskId ?? null;
	if (taskId === null) {
		log.skip("the bundle is of no single task");
		return {};
	}
	return { record(record) {
		if (record.file !== FILES.records || record.body?.taskId === taskId) return;
		log.fail(placeOf(record), "the record belongs to another task");
	} };
};
const checkRecordHash = ({ evidence: { chains, leaves }, log }) => {
	if (chains === void 0) {
		log.fail({ file: FILES.proof }, "it is missing or cannot be read");
		return {};
	}
	const sizes = new Map(chains.map(({ origin, size }) => [origin, size]));
	if (sizes.size !== chains.length) log.fail({ file: FILES.proof }, "a chain stands twice");
	return { record(record) {
		if (record.body === void 0) return;
		const { origin, seq } = record.body;
		if (seq >= (sizes.get(origin) ?? 0)) return;
		const expected = leaves.get(origin)?.hashOf(seq);
		if (expected === void 0) log.fail(placeOf(record), "the proof does not name the record");
		else if (expected !== record.hashHex) log.fail(placeOf(record), "the record has another hash");
	} };
};
const checkRecordLink = ({ log }) => {
	let before;
	return { record(record) {
		const [last, body] = [before?.body, record.body];
		if (last !== void 0 && body?.origin === last.origin && body.seq === last.seq + 1 && record.file === before?.file && body.previousRecordHash !== before.hashHex) log.fail(placeOf(record), "the record does not link to the one before it");
		if (body?.seq === 0 && body.previousRecordHash !== GENESIS) log.fail(placeOf(record), "the first record of a chain links to another");
		before = record;
	} };
};
const checkTaskLink = ({ log }) => {
	const heads = /* @__PURE__ */ new Map();
	return { record(record) {
		const { file, body, hashHex } = record;
		if (file !== FILES.records || body === void 0) return;
		const head = heads.get(body.taskId);
		const expected = head === void 0 ? 0 : head.taskSeq + 1;
		if (body.taskSeq !== expected) log.fail(placeOf(record), `expected the task's record ${expected}, found ${body.taskSeq}`);
		else if (body.previousTaskRecordHash !== (head?.hashHex ?? GENESIS)) log.fail(placeOf(record), "the record does not link to the task's record before it");
		if (head === void 0) heads.set(detached(body.taskId), {
			taskSeq: body.taskSeq,
			hashHex
		});
		else {
			head.taskSeq = body.taskSeq;
			head.hashHex = hashHex;
		}
	} };
};

// packages/ledger/src/bundle/checks/payloads.ts
const SALT_BYTES = 32;
const DOMAIN = encodeUtf8("baton/commit/v1\n");
const ERASING = ["ERASURE_REQUESTED", "ERASURE_COMPLETED"];
const label = (place) => place.join(" ");
const checkErasure = ({ evidence: { erasureLists }, log }) => {
	if (erasureLists === void 0) {
		log.fail({ file: FILES.erasureLists }, "it is missing or cannot be read");
		return {};
	}
	let records = 0;
	return {
		record(record) {
			if (record.file !== FILES.erasures) return;
			const list = erasureLists[records];
			records += 1;
			const erasure = record.body?.erasure;
			if (erasure === void 0 || !ERASING.includes(record.body?.event ?? "")) {
				log.fail(placeOf(record), "the record erases nothing");
				return;
			}
			const expected = list && erasureOf(erasure.subjectRef, list);
			if (expected?.segments === erasure.segments && expected.listSha256 === erasure.listSha256) return;
			log.fail(placeOf(record), "the list of segments is not the one that the record names");
		},
		end() {
			if (records === erasureLists.length) return;
			log.fail({ file: FILES.erasureLists }, "there are more lists than erasure records");
		}
	};
};
function erasedPlaces(evidence) {
	return (body, at, erased) => {
		if (body.erasure === void 0 || !ERASING.includes(body.event)) return;
		for (const place of evidence.erasureLists?.[at] ?? []) erased.set(label(place), body.erasure.subjectRef);
	};
}
const checkPayload = ({ evidence, log, segments }) => {
	const erased = /* @__PURE__ */ new Map();
	const erase = erasedPlaces(evidence);
	const named = [];
	const isIncluded = evidence.files.has(FILES.payloads);
	if (isIncluded && evidence.payloads === void 0) log.fail({ file: FILES.payloads }, "it cannot be read");
	if (!isIncluded) log.skip("the bundle holds no texts");
	let erasures = 0;
	return {
		record({ file, body }) {
			if (file === FILES.erasures) {
				if (body !== void 0) erase(body, erasures, erased);
				erasures += 1;
			} else if (body !== void 0) {
				const { origin, seq } = body;
				for (const reference of body.payload) named.push({
					origin: detached(origin),
					seq,
					reference
				});
			}
		},
		end() {
			const stored = new Map((evidence.payloads ?? []).map((one) => [label([
				one.origin,
				one.seq,
				one.segment
			]), one]));
			if (stored.size !== (evidence.payloads ?? []).length) log.fail({ file: FILES.payloads }, "a segment stands twice");
			for (const one of named) {
				const place = label([
					one.origin,
					one.seq,
					one.reference.segment
				]);
				const status = statusOf(one.reference, stored.get(place), {
					isErased: erased.get(place) === one.reference.subjectRef,
					isIncluded
				});
				stored.delete(place);
				const { origin, seq } = one;
				segments.push({
					origin,
					seq,
					segment: one.reference.segment,
					status
				});
				const message = `segment ${one.reference.segment} ${SENTENCES[status] ?? ""}`;
				if (status in SENTENCES) log.fail({
					file: FILES.payloads,
					origin,
					seq
				}, message);
			}
			for (const { origin, seq } of stored.values()) log.fail({
				file: FILES.payloads,
				origin,
				seq
			}, "a text that no record names");
		}
	};
};
const SENTENCES = {
	missing: "is missing, and no erasure record names it",
	mismatch: "is not what the record committed to"
};
function statusOf(reference, stored, known) {
	if (stored !== void 0) return opens(reference, stored) ? "present" : "mismatch";
	if (known.isErased) return "erased";
	return known.isIncluded ? "missing" : "withheld";
}
function opens(reference, { salted }) {
	const bytes = fromBase64(salted) ?? /* @__PURE__ */ new Uint8Array(0);
	if (bytes.length - SALT_BYTES !== reference.bytes) return false;
	return sha256Hex(concatBytes([DOMAIN, bytes])) === reference.commitment;
}

// packages/ledger/src/tree/hash.ts
const EMPTY_ROOT = sha256$1(/* @__PURE__ */ new Uint8Array(0));
const INNER$1 = /* @__PURE__ */ new Uint8Array(65);
INNER$1[0] = 1;
function hashLeaf(entry) {
	const prefixed = new Uint8Array(1 + entry.length);
	prefixed.set(entry, 1);
	return sha256$1(prefixed);
}
function hashChildren(left, right) {
	INNER$1.set(left, 1);
	INNER$1.set(right, 33);
	return sha256$1(INNER$1);
}
function newInner() {
	const inner = /* @__PURE__ */ new Uint8Array(65);
	inner[0] = 1;
	return inner;
}
const [LEFT, RIGHT] = [1, 33];
const putInnerHash = putSha256;

// packages/ledger/src/tree/verify.ts
const isSize = (value) => Number.isSafeInteger(value) && value >= 0;
const areHashes = (hashes) => hashes.every((hash) => hash.length === 32);
const half = (value) => Math.floor(value / 2);
function rootFromInclusion(claim) {
	const { index, size, leafHash, proof } = claim;
	if (!isSize(index) || !isSize(size) || index >= size) return void 0;
	if (!areHashes([leafHash, ...proof])) return void 0;
	let [node, last, hash] = [
		index,
		size - 1,
		leafHash
	];
	for (const sibling of proof) {
		if (last === 0) return void 0;
		if (node % 2 === 1 || node === last) {
			hash = hashChildren(sibling, hash);
			while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
		} else hash = hashChildren(hash, sibling);
		[node, last] = [half(node), half(last)];
	}
	return last === 0 ? hash : void 0;
}
function verifyInclusion(claim) {
	const root = rootFromInclusion(claim);
	return root !== void 0 && equalBytes(root, claim.root);
}

// packages/ledger/src/seal-keys.ts
const HANDOVER_FAULTS = {
	ENTRY: "the entry is no hand-over, or names other places than those of the hand-overs",
	KEYS: "it does not name two keys of this log",
	FROM: "it hands over a key that was not in force",
	RETURNED: "it hands over to a key that was in force before",
	PROOF: "the new key did not sign it",
	UNSIGNED: "the key that was in force did not sign the checkpoint that ends in it",
	TREE: "it does not stand under the checkpoint that ends in it",
	UNTRUSTED: "none of the keys of the log is one that is trusted here"
};
const singleSealKey = (publicKey) => ({
	publicKeys: [publicKey],
	handovers: []
});
function handoverStatement(entry, rootBefore) {
	const { handover, handovers } = entry;
	const { from, to } = handover;
	const [origin = ""] = to.split("+", 1);
	const stated = canonicalJson({
		...entry,
		handover: {
			from,
			to
		}
	});
	return `baton/seal-handover/v1\n${origin}\n${handovers.at(-1)}\n${toBase64(rootBefore)}\n${stated}\n`;
}
function isInForce({ handovers }, at, { origin, size }) {
	const [from, until] = [handovers[at - 1], handovers[at]];
	return (from === void 0 || size >= firstSize(from, origin)) && (until === void 0 || size <= lastSize(until, origin));
}
const lastSize = ({ seq, from, entry }, origin) => origin === from.name ? seq + 1 : entry.chains.find((chain) => chain.origin === origin)?.size ?? 0;
const firstSize = (handover, origin) => lastSize(handover, origin) + Number(origin === handover.from.name);
function openSealNote(note, origin, keys) {
	const known = keys.publicKeys.map((key) => verifierKey(origin, SIGNATURE_TYPES.ed25519, key));
	const opened = openNote(encodeUtf8(note), known);
	const checkpoint = opened.ok ? parseCheckpoint(opened.text) : void 0;
	if (!opened.ok || checkpoint?.origin !== origin) return {
		ok: false,
		reason: "unsigned"
	};
	const key = known[known.findIndex(({ keyId }, index) => opened.signatures.some((signature) => signature.keyId === keyId) && isInForce(keys, index, checkpoint))];
	return key === void 0 ? {
		ok: false,
		reason: "retired"
	} : {
		ok: true,
		checkpoint,
		key
	};
}
function resolveSealKeys(origin, trusted, handovers) {
	const proven = [];
	for (const [at, evidence] of handovers.entries()) {
		const next = proveHandover(origin, proven, evidence);
		if (typeof next === "string") return {
			ok: false,
			fault: next,
			at
		};
		proven.push(next);
	}
	const [first] = proven;
	const isTrusted = ({ publicKey }) => trusted.some((key) => equalBytes(key, publicKey));
	const keys = first === void 0 ? [] : [first.from, ...proven.map(({ to }) => to)];
	if (!keys.some(isTrusted)) return {
		ok: false,
		fault: "UNTRUSTED",
		at: null
	};
	return {
		ok: true,
		keys: {
			publicKeys: keys.map(({ publicKey }) => publicKey),
			handovers: proven
		}
	};
}
function proveHandover(origin, before, { entry: bytes, path, note }) {
	const entry = readSealEntry(bytes);
	const { handover, handovers = [] } = entry ?? {};
	const seq = handovers.at(-1);
	if (entry === void 0 || handover === void 0 || seq === void 0) return "ENTRY";
	if (String(handovers.slice(0, -1)) !== String(before.map((one) => one.seq))) return "ENTRY";
	const keys = readKeys(origin, before, handover);
	if (typeof keys === "string") return keys;
	const { from, to } = keys;
	const opened = openSealNote(note, origin, singleSealKey(from.publicKey));
	if (!opened.ok || opened.checkpoint.size !== seq + 1) return "UNSIGNED";
	const { root } = opened.checkpoint;
	const claim = {
		index: seq,
		size: seq + 1,
		leafHash: hashLeaf(bytes),
		proof: path,
		root
	};
	if (!verifyInclusion(claim)) return "TREE";
	const stated = handoverStatement({
		...entry,
		handovers,
		handover
	}, rootBeforeLast(path));
	const proof = fromBase64(handover.proof) ?? /* @__PURE__ */ new Uint8Array(0);
	if (!verifyEd25519(to.publicKey, encodeUtf8(stated), proof)) return "PROOF";
	return {
		seq,
		from,
		to,
		entry
	};
}
function readKeys(origin, before, handover) {
	const [from, to] = [readLogKey(handover.from, origin), readLogKey(handover.to, origin)];
	if (from === void 0 || to === void 0) return "KEYS";
	const earlier = [...before.slice(0, 1).map((one) => one.from), ...before.map((one) => one.to)];
	const inForce = earlier.at(-1) ?? from;
	if (!equalBytes(from.publicKey, inForce.publicKey)) return "FROM";
	return [from, ...earlier].some((key) => equalBytes(key.publicKey, to.publicKey)) ? "RETURNED" : {
		from,
		to
	};
}
const rootBeforeLast = ([first, ...rest]) => rest.reduce((right, left) => hashChildren(left, right), first);
function readLogKey(text, origin) {
	try {
		const key = readVerifierKey(text);
		return key.name === origin && key.type === SIGNATURE_TYPES.ed25519 ? key : void 0;
	} catch (error) {
		if (error instanceof LedgerError) return void 0;
		throw error;
	}
}

// packages/ledger/src/bundle/seal-signer.ts
const sealCheckpoint = (note) => parseCheckpoint(splitNote(encodeUtf8(note))?.text ?? "");
function sealSignersOf({ policy, seal, handovers, note }) {
	const { origin = "", size = 0 } = sealCheckpoint(note) ?? {};
	const logs = policy.log.logs.filter(({ name }) => name === origin);
	const kept = policy.retired.filter(({ key, seals }) => key.name === origin && size <= seals);
	const own = [...policy.log.logs, ...policy.retired.map(({ key }) => key)];
	const counted = [...logs, ...kept.map(({ key }) => key)];
	const refused = (fault) => ({
		known: own,
		inForce: [],
		fault,
		open: void 0
	});
	if (!areThose(handovers, seal?.handovers ?? [])) return refused(OTHER_HANDOVERS);
	if (handovers.length === 0) return {
		known: own,
		inForce: counted,
		fault: void 0,
		open: void 0
	};
	const trusted = own.filter(({ name }) => name === origin).map(({ publicKey }) => publicKey);
	const resolved = resolveSealKeys(origin, trusted, handovers.map(evidenceOf));
	if (!resolved.ok) return refused(HANDOVER_FAULTS[resolved.fault]);
	const { keys } = resolved;
	const opened = openSealNote(note, origin, keys);
	const known = [...own, ...newKeys(keys, origin, own)];
	if (!opened.ok) return {
		...refused(NOT_IN_FORCE),
		known
	};
	const from = newestOf(keys, logs);
	if (!(from !== void 0 || counted.some((key) => isSameKey(key, opened.key)))) return {
		...refused(BEYOND),
		known
	};
	return {
		known,
		inForce: [opened.key],
		fault: void 0,
		open: openTo(keys, from)
	};
}
const OTHER_HANDOVERS = "the bundle does not carry the hand-overs that its seal names";
const NOT_IN_FORCE = "no key signed it that was in force for a log of its size";
const BEYOND = "only a key that signs no log of this size leads to the one that signed it";
const areThose = (handovers, places) => String(handovers.map(({ entry }) => readSealEntry(encodeUtf8(entry))?.handovers?.at(-1))) === String(places);
const NO_HASH = /* @__PURE__ */ new Uint8Array(0);
const evidenceOf = ({ entry, path, note }) => ({
	entry: encodeUtf8(entry),
	path: path.map((hash) => fromBase64(hash) ?? NO_HASH),
	note
});
const isSameKey = (left, right) => equalBytes(left.publicKey, right.publicKey);
const newKeys = (keys, origin, known) => keys.publicKeys.map((key) => verifierKey(origin, SIGNATURE_TYPES.ed25519, key)).filter(({ name, keyId }) => !known.some((key) => key.name === name && key.keyId === keyId));
function newestOf({ publicKeys }, logs) {
	const at = publicKeys.findLastIndex((publicKey) => logs.some((key) => equalBytes(key.publicKey, publicKey)));
	return at < 0 ? void 0 : at;
}
function openTo({ handovers }, from) {
	const handover = from === void 0 ? void 0 : handovers[from];
	const last = handovers.at(-1);
	if (handover === void 0 || last === void 0) return void 0;
	return `a log that somebody else went on with who has the key ${handover.from.keyId} (your policy names it, and it was handed over with seal ${handover.seq}: ask whoever runs the log whether ${formatVerifierKey(last.to)} is its key, and name that one instead)`;
}

// packages/ledger/src/tree/subset.ts
const HASH_BYTES$1 = 32;
const widthOf = (size) => {
	let width = 1;
	while (width < size) width *= 2;
	return width;
};
function rootFromSubset(claim) {
	const { size, indexes, leafHashes, proof } = claim;
	if (!Number.isSafeInteger(size) || size < 1 || !areLeaves(indexes, size)) return void 0;
	if (leafHashes.length !== indexes.length * HASH_BYTES$1) return void 0;
	if (!proof.every((hash) => hash.length === HASH_BYTES$1)) return void 0;
	return foldSubset(claim);
}
function foldSubset({ size, indexes, leafHashes, proof }) {
	const inners = [];
	let nextLeaf = 0;
	let nextHash = 0;
	function fold(start, width, slot) {
		const level = slot >> 1;
		const target = inners[level] ??= newInner();
		const from = slot % 2 === 0 ? LEFT : RIGHT;
		const end = start + width < size ? start + width : size;
		const index = indexes[nextLeaf];
		if (index === void 0 || index >= end) return putProof(target, from);
		if (width === 1) return putLeaf(target, from);
		const half = width / 2;
		const below = (level + 1) * 2;
		if (start + half >= size) return fold(start, half, slot);
		fold(start, half, below);
		fold(start + half, half, below + 1);
		putInnerHash(inners[level + 1], target, from);
	}
	function putProof(target, from) {
		const hash = proof[nextHash];
		nextHash += 1;
		if (hash !== void 0) target.set(hash, from);
	}
	function putLeaf(target, from) {
		const leaf = nextLeaf * HASH_BYTES$1;
		for (let at = 0; at < HASH_BYTES$1; at += 1) target[from + at] = leafHashes[leaf + at];
		nextLeaf += 1;
	}
	fold(0, widthOf(size), 0);
	return nextHash === proof.length && nextLeaf === indexes.length ? inners[0]?.slice(LEFT, LEFT + HASH_BYTES$1) : void 0;
}
function areLeaves(indexes, size) {
	let before = -1;
	for (const index of indexes) {
		if (!(index > before && index < size)) return false;
		before = index;
	}
	return indexes.length > 0 && Number.isSafeInteger(before);
}

// packages/ledger/src/bundle/leaves.ts
function createListedLeaves(leaves) {
	let place = 0;
	function search(seq) {
		let low = 0;
		let high = leaves.length;
		while (low < high) {
			const middle = low + high >> 1;
			if ((leaves[middle]?.[0] ?? 0) < seq) low = middle + 1;
			else high = middle;
		}
		return low;
	}
	function placeOf(seq) {
		if (leaves[place]?.[0] !== seq) place = leaves[place + 1]?.[0] === seq ? place + 1 : search(seq);
		return leaves[place]?.[0] === seq ? place : -1;
	}
	return {
		placeOf,
		hashOf: (seq) => leaves[placeOf(seq)]?.[1]
	};
}
const HASH_BYTES = 32;
function createComputedLeaves(proof) {
	const leaves = proof?.leaves ?? [];
	const listed = createListedLeaves(leaves);
	const leafHashes = new Uint8Array(leaves.length * HASH_BYTES);
	const isComputed = new Uint8Array(leaves.length);
	let records = 0;
	let unlisted = 0;
	return {
		put(seq, hashHex) {
			const place = listed.placeOf(seq);
			records += 1;
			if (place < 0) {
				unlisted += 1;
				return;
			}
			isComputed[place] = 1;
			putHex(hashHex, leafHashes, place * HASH_BYTES);
		},
		leadTo(root) {
			if (records === 0) return true;
			if (proof === void 0 || unlisted > 0) return false;
			const indexes = leaves.map(([index, hash], place) => {
				if (isComputed[place] === 0) putHex(hash, leafHashes, place * HASH_BYTES);
				return index;
			});
			const hashes = proof.hashes.map((hash) => fromBase64(hash) ?? /* @__PURE__ */ new Uint8Array(0));
			const found = rootFromSubset({
				size: proof.size,
				indexes,
				leafHashes,
				proof: hashes
			});
			return found !== void 0 && toBase64(found) === root;
		}
	};
}

// packages/ledger/src/bundle/checks/seal.ts
const SKEW_SECONDS = 300;
const UNSEALED = "the bundle holds no seal";
const sealedChain = (seal, origin) => seal?.chains.find((chain) => chain.origin === origin);
const checkInclusion = ({ evidence: { chains = [], seal }, log }) => {
	const sealed = new Map((seal?.chains ?? []).map((chain) => [chain.origin, chain]));
	const claims = /* @__PURE__ */ new Map();
	for (const origin of sealed.keys()) claims.set(origin, createComputedLeaves(chains.find((chain) => chain.origin === origin)));
	return {
		record(record) {
			if (record.body === void 0) return;
			const { origin, seq } = record.body;
			if (seq < (sealed.get(origin)?.size ?? 0)) claims.get(origin)?.put(seq, record.hashHex);
			else log.lack(placeOf(record), "the record is not sealed yet");
		},
		end() {
			for (const [origin, claim] of claims) {
				if (claim.leadTo(sealed.get(origin)?.root)) continue;
				log.fail({
					file: FILES.proof,
					origin
				}, "the records do not lead to the sealed root: one of them, or the proof, differs");
			}
		}
	};
};
const checkChainCheckpoint = ({ evidence, log }) => {
	const { chains = [], seal, policy } = evidence;
	for (const { origin, size, checkpoint } of chains) {
		const sealed = sealedChain(seal, origin);
		if (sealed === void 0) continue;
		const place = {
			file: FILES.proof,
			origin
		};
		if (sealed.size !== size) log.fail(place, "the proof is for another size than the sealed one");
		if (checkpoint === null) continue;
		const note = encodeUtf8(checkpoint);
		const stated = parseCheckpoint(splitNote(note)?.text ?? "");
		const isSame = stated?.origin === origin && stated.size === sealed.size && toBase64(stated.root) === sealed.root;
		const opened = openNote(note, policy.log.logs);
		if (!isSame) log.fail(place, "the checkpoint of the chain differs from the seal");
		if (!opened.ok && opened.reason !== "NO_KNOWN_SIGNATURE") log.fail(place, "the signature of the checkpoint is wrong");
	}
	return {};
};
const checkSealEntry = ({ evidence: { files, seal, chains = [] }, log }) => {
	if (!files.has(FILES.seal)) log.lack({ file: FILES.seal }, UNSEALED);
	else if (seal === void 0) log.fail({ file: FILES.seal }, "it cannot be read as a seal entry");
	else for (const { origin } of chains) {
		if (sealedChain(seal, origin) !== void 0) continue;
		log.fail({
			file: FILES.seal,
			origin
		}, "the seal does not list the chain");
	}
	return {};
};
const checkpointOf = ({ sealProof }) => sealProof && sealCheckpoint(sealProof.checkpoint);
const checkSealInclusion = ({ evidence, log }) => {
	const [entry, proof] = [evidence.files.get(FILES.seal), evidence.sealProof];
	const checkpoint = checkpointOf(evidence);
	const place = { file: FILES.sealProof };
	if (entry === void 0 && !evidence.files.has(FILES.sealProof)) log.lack(place, UNSEALED);
	else if (entry === void 0 || proof === void 0 || checkpoint === void 0) log.fail(place, "the proof of the seal is missing or cannot be read");
	else {
		const claim = {
			index: proof.index,
			proof: proof.path,
			leafHash: hashLeaf(entry)
		};
		if (!verifyInclusion({
			...claim,
			size: checkpoint.size,
			root: checkpoint.root
		})) log.fail(place, "the seal does not stand in the seal log at this index");
		if (proof.extra !== null) log.fail(place, "the proof carries extra data");
	}
	return {};
};
const checkSealSignature = ({ evidence, log }) => {
	const [opened, checkpoint] = [evidence.sealNote, checkpointOf(evidence)];
	const place = { file: FILES.sealProof };
	if (opened === void 0) log.lack(place, UNSEALED);
	else if (!opened.ok) log.fail(place, FAULTS[opened.reason]);
	else {
		const { inForce, fault } = evidence.sealSigners ?? { inForce: [] };
		if (!opened.signatures.some(({ name, keyId }) => inForce.some((key) => key.name === name && key.keyId === keyId))) log.fail(place, fault ?? "no log of your policy signed this checkpoint as its own");
		log.note(`${checkpoint?.origin ?? ""}, ${checkpoint?.size ?? 0} seals`);
	}
	return {};
};
const FAULTS = {
	MALFORMED: "the checkpoint is not a signed note",
	AMBIGUOUS_KEY: "your policy names a key twice",
	INVALID_SIGNATURE: "a signature by a key of your policy is wrong",
	NO_KNOWN_SIGNATURE: "no key of your policy signed it"
};
const checkWitnessQuorum = ({ evidence, log }) => {
	const { policy } = evidence;
	const opened = evidence.sealNote;
	const signatures = opened?.ok === true ? opened.signatures : [];
	const names = signatures.filter(({ timestamp }) => timestamp !== null).map(({ name }) => name);
	const isMet = meetsQuorum(policy.log, ({ name, keyId }) => signatures.some((signature) => signature.name === name && signature.keyId === keyId));
	if (policy.log.quorum === null) log.skip("your policy asks for no witness");
	else if (!isMet) log.lack({ file: FILES.sealProof }, "too few witnesses of your policy cosigned it");
	else log.note(names.join(", "));
	return {};
};
const checkSealTime = ({ evidence, log }) => {
	const { seal, now } = evidence;
	if (seal === void 0) {
		log.skip(UNSEALED);
		return {};
	}
	const sealedAt = (parseInstant(seal.at) ?? 0) / 1e6;
	if (sealedAt > now + SKEW_SECONDS) log.lack({ file: FILES.seal }, "the seal is from the future");
	const opened = evidence.sealNote;
	for (const { name, timestamp } of opened?.ok === true ? opened.signatures : []) {
		if (timestamp === null) continue;
		if (!(timestamp >= sealedAt - SKEW_SECONDS && timestamp <= now + SKEW_SECONDS)) log.lack({ file: FILES.sealProof }, `${name} cosigned at an impossible time`);
	}
	const sizes = new Map(seal.chains.map(({ origin, size }) => [origin, size]));
	return { record(record) {
		const { body } = record;
		if (body === void 0 || body.recordedAt <= seal.at) return;
		if (body.seq < (sizes.get(body.origin) ?? 0)) log.lack(placeOf(record), "the record is later than the seal that covers it");
	} };
};

// packages/ledger/src/bundle/checks/service.ts
const checkBatchSignature = ({ evidence, log }) => {
	const { batches, policy } = evidence;
	if (batches === void 0) {
		log.fail({ file: FILES.batches }, "it is missing or cannot be read");
		return {};
	}
	if (policy.batchKeys.size === 0) {
		log.skip("your policy names no append service");
		return {};
	}
	const trees = new Map((evidence.chains ?? []).map(({ origin, size }) => {
		return [origin, {
			size,
			listed: evidence.leaves.get(origin)
		}];
	}));
	const byOrigin = /* @__PURE__ */ new Map();
	for (const batch of batches) {
		checkBatch(batch, {
			tree: trees.get(batch.origin),
			keys: policy.batchKeys,
			log
		});
		const others = byOrigin.get(batch.origin);
		if (others === void 0) byOrigin.set(batch.origin, [batch]);
		else others.push(batch);
	}
	const cursors = /* @__PURE__ */ new Map();
	return { record(record) {
		if (record.body === void 0) return;
		const { origin, seq, keyIds } = record.body;
		const all = byOrigin.get(origin) ?? [];
		const start = record.file === FILES.records ? cursors.get(origin) ?? 0 : 0;
		let at = start;
		while (at < all.length && all[at].lastSeq < seq) at += 1;
		if (at !== start) cursors.set(origin, at);
		const batch = all[at];
		if (batch === void 0 || batch.firstSeq > seq) log.fail(placeOf(record), "the record is in no signed batch");
		else if (keyIds.batch !== batch.keyId) log.fail(placeOf(record), "the record names another key than its batch");
	} };
};
function checkBatch(batch, { tree, keys, log }) {
	const { origin, lastSeq, lastHash, keyId } = batch;
	const place = {
		file: FILES.batches,
		origin,
		seq: lastSeq
	};
	const listed = tree?.listed?.hashOf(lastSeq);
	if (tree !== void 0 && lastSeq >= tree.size) log.lack(place, "the batch ends after the seal, so its end is not proven");
	else if (tree !== void 0 && listed !== lastHash) log.fail(place, "the batch does not end in the record that the tree has there");
	const key = keys.get(keyId);
	const signature = fromBase64(batch.signature) ?? /* @__PURE__ */ new Uint8Array(0);
	if (key === void 0) log.fail(place, "no append service of your policy has this key");
	else if (!verifyEd25519(key, batchStatementBytes(batch), signature)) log.fail(place, "the signature of the batch is wrong");
}
const checkReceipt = ({ evidence: { receipts }, log }) => {
	if (receipts === void 0) {
		log.fail({ file: FILES.receipts }, "it is missing or cannot be read");
		return {};
	}
	const open = new Map(receipts.map((receipt) => [`${receipt.origin} ${receipt.seq}`, receipt]));
	if (open.size !== receipts.length) log.fail({ file: FILES.receipts }, "a record has two receipts");
	if (receipts.length === 0) {
		log.skip("the bundle holds no receipt");
		return {};
	}
	return {
		record(record) {
			if (record.body === void 0) return;
			const { origin, seq, recordedAt } = record.body;
			const receipt = open.get(`${origin} ${seq}`);
			open.delete(`${origin} ${seq}`);
			if (receipt === void 0) return;
			if (receipt.recordHash === record.hashHex && receipt.recordedAt === recordedAt) return;
			log.fail(placeOf(record), "the receipt is for another record");
		},
		end() {
			for (const { origin, seq } of open.values()) log.fail({
				file: FILES.receipts,
				origin,
				seq
			}, "the record of a receipt is missing");
		}
	};
};

// packages/ledger/src/task-map.ts
const EMPTY_TASK_MAP = /* @__PURE__ */ new Uint8Array(32);
const CHILDREN = 16;
const LIST = 0;
const INNER = 1;
const ID_BYTES = 16;
const ENTRY_BYTES = 52;
const NAME$1 = encodeUtf8("baton/task-map/v1\n");
const idBytes = (taskId) => fromHex(taskId.replaceAll("-", ""));
const digitsOf = (taskId) => sha256Hex(concatBytes([NAME$1, idBytes(taskId)]));
function taskMapPath(taskId) {
	const digits = digitsOf(taskId);
	return Array.from({ length: 25 }, (_, length) => digits.slice(0, length));
}
const taskMapStart = (root) => isEmpty(root) ? void 0 : {
	name: "",
	hash: root
};
function openTaskMapNode({ name, hash }, bytes) {
	const node = readNode(bytes, hash);
	if (node === void 0) return void 0;
	if (node.kind === "list") return {
		ends: node.entries,
		below: []
	};
	const below = node.children.map((child, digit) => ({
		name: name + digit.toString(16),
		hash: child
	}));
	return {
		ends: NO_TASKS.entries,
		below: below.filter((child) => !isEmpty(child.hash))
	};
}
const NO_TASKS = {
	kind: "list",
	entries: /* @__PURE__ */ new Map()
};
const NO_CHILDREN = Array.from({ length: CHILDREN }, () => EMPTY_TASK_MAP);
const readings = /* @__PURE__ */ new WeakMap();
function readNode(bytes, expected) {
	if (bytes === void 0) return void 0;
	const reading = readings.get(bytes) ?? {
		hash: sha256$1(bytes),
		parsed: parseNode(bytes)
	};
	readings.set(bytes, reading);
	return equalBytes(reading.hash, expected) ? reading.parsed : void 0;
}
function parseNode(bytes) {
	if (bytes[0] === INNER) {
		if (bytes.length !== 513) return void 0;
		return {
			kind: "children",
			children: NO_CHILDREN.map((_, at) => bytes.subarray(1 + at * 32, 33 + at * 32))
		};
	}
	if (bytes[0] !== LIST || bytes.length === 1 || (bytes.length - 1) % ENTRY_BYTES !== 0) return;
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const entries = /* @__PURE__ */ new Map();
	let before = "";
	for (let at = 1; at < bytes.length; at += ENTRY_BYTES) {
		const records = view.getUint32(at + ID_BYTES);
		const lastHash = bytes.subarray(at + ID_BYTES + 4, at + ENTRY_BYTES);
		const taskId = uuidOfHex(toHex(bytes.subarray(at, at + ID_BYTES)));
		if (taskId <= before || records === 0) return void 0;
		entries.set(taskId, {
			records,
			lastHash
		});
		before = taskId;
	}
	return {
		kind: "list",
		entries
	};
}
const isEmpty = (root) => equalBytes(root, EMPTY_TASK_MAP);

// packages/ledger/src/bundle/task-ends.ts
function readTaskEnds(root, proof) {
	if (!isAscending(proof.tasks)) return "its tasks do not stand in their order, each once";
	if (!isAscending(proof.nodes)) return "its nodes do not stand in their order, each once";
	const nodes = proof.nodes.map(fromBase64);
	if (!nodes.every((node) => node !== void 0)) return "a node is not base64";
	const reader = createNodeReader(nodes);
	const ends = /* @__PURE__ */ new Map();
	for (const taskId of proof.tasks) {
		const end = lookUp(root, taskId, reader.read);
		if (end === void 0) return `no node that the seal commits to leads to the task ${taskId}`;
		ends.set(taskId, end);
	}
	return reader.used().length === nodes.length ? ends : "it holds a node that no task needs";
}
const isAscending = (texts) => texts.every((text, at) => at === 0 || texts[at - 1] < text);
function createNodeReader(nodes) {
	const byHash = new Map([...nodes].map((node) => [toHex(sha256$1(node)), node]));
	const used = /* @__PURE__ */ new Set();
	return {
		read(hash) {
			const node = byHash.get(toHex(hash));
			if (node !== void 0) used.add(node);
			return node;
		},
		used: () => [...used]
	};
}
function lookUp(root, taskId, read) {
	let place = taskMapStart(root);
	const path = taskMapPath(taskId);
	for (let depth = 0; depth < path.length; depth += 1) {
		if (place === void 0) return null;
		const node = openTaskMapNode(place, read(place.hash));
		if (node === void 0) return void 0;
		const end = node.ends.get(taskId);
		if (end !== void 0) return end;
		if (node.below.length === 0) return null;
		place = node.below.find(({ name }) => name === path[depth + 1]);
	}
}

// packages/ledger/src/bundle/checks/task-complete.ts
const PLACE = { file: FILES.proof };
const checkTaskComplete = (context) => {
	const { evidence, log } = context;
	if (evidence.ends === void 0) {
		log.skip("the bundle holds no map of tasks: its end rests on the exporter");
		return {};
	}
	const tasks = evidence.seal?.tasks;
	if (tasks === void 0) {
		log.fail(PLACE, "the seal commits to no map of tasks");
		return {};
	}
	const proven = readTaskEnds(fromBase64(tasks.root), evidence.ends);
	if (typeof proven === "string") {
		log.fail(PLACE, proven);
		return {};
	}
	return compare(context, proven, tasks);
};
function compare({ evidence, log, end }, proven, tasks) {
	const sizes = sizesOf(evidence, tasks);
	const found = new Map([...proven.keys()].map((taskId) => [taskId, nothing()]));
	log.note(`until ${tasks.at}`);
	end.until = tasks.at;
	for (const [taskId, one] of proven) if (one === null) end.absent.push(taskId);
	function add(record) {
		const { file, body, hashHex } = record;
		if (file !== FILES.records || body === void 0) return;
		const { taskId, origin, seq, taskSeq, recordedAt } = body;
		const own = found.get(taskId);
		if (own === void 0) log.fail(placeOf(record), "the end of the task of this record is not proven");
		else if (seq >= (sizes.get(origin) ?? 0)) end.later.push({
			origin,
			seq,
			recordedAt
		});
		else {
			own.records += 1;
			if (taskSeq > own.lastSeq) Object.assign(own, {
				lastSeq: taskSeq,
				lastHash: hashHex
			});
		}
	}
	return {
		record: add,
		end() {
			for (const [taskId, one] of proven) {
				const fault = faultOf(one, found.get(taskId), tasks.at);
				if (fault !== void 0) log.fail(PLACE, `task ${taskId}: ${fault}`);
			}
		}
	};
}
const nothing = () => ({
	records: 0,
	lastSeq: -1,
	lastHash: ""
});
function sizesOf({ seal }, { sizes }) {
	return new Map((seal?.chains ?? []).map(({ origin }, at) => [origin, sizes[at] ?? 0]));
}
function faultOf(end, found, until) {
	const records = end?.records ?? 0;
	const missing = records - found.records;
	if (missing > 0) return `${missing} of the ${records} records that it had at ${until} ${missing === 1 ? "is" : "are"} missing`;
	if (missing < 0) return `it had ${records} records at ${until}, and ${found.records} are here`;
	return end === null || found.lastHash === toHex(end.lastHash) ? void 0 : `its last record of ${until} is another one`;
}

// packages/ledger/src/bundle/checks/task-end.ts
const ENDS = [
	"HANDOFF_REJECTED",
	"HANDOFF_EXPIRED",
	"HANDOFF_CANCELED",
	"HANDOFF_RETURNED",
	"EXECUTION_COMPLETED",
	"ROLLED_BACK",
	"DEAD_LETTERED",
	"DEAD_LETTER_DISCARDED"
];
const checkTaskEnd = ({ log }) => {
	const open = /* @__PURE__ */ new Map();
	return {
		record({ file, body }) {
			if (file !== FILES.records || body === void 0) return;
			const { handoffId, origin, seq, event } = body;
			if (event === "HANDOFF_ACCEPTED") open.set(handoffId, {
				origin,
				seq
			});
			else if (open.size > 0 && ENDS.includes(event)) open.delete(handoffId);
		},
		end() {
			for (const place of open.values()) {
				const message = "the handoff was accepted, and nothing says how it ended";
				log.lack({
					file: FILES.records,
					...place
				}, message);
			}
		}
	};
};

// packages/ledger/src/bundle/checks.ts
const CHECK_TITLES = {
	CONTAINER: "The container holds its files and not one byte more",
	MANIFEST_DIGEST: "The manifest and its signature are the ones that were written",
	VERSION: "The bundle is of a version that this verifier knows",
	MANIFEST: "Every file is listed, and has the listed size and digest",
	EXPORTER_SIGNATURE: "Who exported the bundle signed its manifest",
	RECORD_FORM: "Every record can be read",
	RECORD_CANONICAL: "Every record has the one form that its content may have",
	RECORD_ORDER: "Records stand in the order of their chain, each once",
	RECORD_TASK: "Every record belongs to the task",
	RECORD_HASH: "Every record has the hash that the bundle lists for it",
	RECORD_LINK: "Neighbouring records of a chain are linked",
	TASK_LINK: "No record of the task is missing from its middle, and none is changed",
	INCLUSION: "Every record stands in the sealed tree of its chain",
	CHAIN_CHECKPOINT: "Checkpoints of the chains agree with the seal",
	SEAL_ENTRY: "The seal can be read and lists the chains",
	SEAL_INCLUSION: "The seal stands in the seal log",
	SEAL_SIGNATURE: "A log of your policy signed the seal log",
	WITNESS_QUORUM: "The witnesses of your policy saw the seal log",
	SEAL_TIME: "Records, seal and witnesses agree on the time",
	BATCH_SIGNATURE: "An append service of your policy recorded every record",
	RECEIPT: "Every receipt has its record",
	ERASURE: "Every erasure says exactly what it erased",
	PAYLOAD: "Every text is what its record committed to, or is lawfully erased",
	DECISIONS: "People of your policy signed what they decided, and enough of them",
	JOINED: "Every join was given what its branches came to",
	TASK_END: "Every accepted handoff has an end",
	TASK_COMPLETE: "No record is missing at the end of the task"
};
const CHECKS = {
	CONTAINER: checkContainer,
	MANIFEST_DIGEST: checkManifestDigest,
	VERSION: checkVersion,
	MANIFEST: checkManifest,
	EXPORTER_SIGNATURE: checkExporterSignature,
	RECORD_FORM: checkRecordForm,
	RECORD_CANONICAL: checkRecordCanonical,
	RECORD_ORDER: checkRecordOrder,
	RECORD_TASK: checkRecordTask,
	RECORD_HASH: checkRecordHash,
	RECORD_LINK: checkRecordLink,
	TASK_LINK: checkTaskLink,
	INCLUSION: checkInclusion,
	CHAIN_CHECKPOINT: checkChainCheckpoint,
	SEAL_ENTRY: checkSealEntry,
	SEAL_INCLUSION: checkSealInclusion,
	SEAL_SIGNATURE: checkSealSignature,
	WITNESS_QUORUM: checkWitnessQuorum,
	SEAL_TIME: checkSealTime,
	BATCH_SIGNATURE: checkBatchSignature,
	RECEIPT: checkReceipt,
	ERASURE: checkErasure,
	PAYLOAD: checkPayload,
	DECISIONS: checkDecisions,
	JOINED: checkJoined,
	TASK_END: checkTaskEnd,
	TASK_COMPLETE: checkTaskComplete
};

// packages/ledger/src/tlog/proof.ts
const HEADER = "c2sp.org/tlog-proof@v1";
const PATH_MAX = 53;
function parseTlogProof(bytes) {
	const text = decodeUtf8(bytes);
	const blank = text?.indexOf("\n\n") ?? -1;
	if (text === void 0 || blank < 0) return void 0;
	const [header, ...rest] = text.slice(0, blank).split("\n");
	const extra = readExtra(rest[0]);
	const [indexLine = "", ...pathLines] = extra === null ? rest : rest.slice(1);
	const index = indexLine.startsWith("index ") ? readDecimal(indexLine.slice(6)) : void 0;
	const path = pathLines.map(fromBase64);
	if (header !== HEADER || index === void 0 || extra === void 0) return void 0;
	if (path.length > PATH_MAX || !path.every((hash) => hash?.length === 32)) return void 0;
	const checkpoint = text.slice(blank + 2);
	const note = splitNote(encodeUtf8(checkpoint));
	if (note === void 0 || parseCheckpoint(note.text) === void 0) return void 0;
	return {
		extra,
		index,
		path,
		checkpoint
	};
}
function readExtra(line) {
	return line?.startsWith("extra ") ? fromBase64(line.slice(6)) : null;
}

// packages/ledger/src/bundle/tar.ts
const BLOCK = 512;
const NAME_MAX$1 = 100;
const END = new Uint8Array(2 * BLOCK);
const paddingOf = (length) => (BLOCK - length % BLOCK) % BLOCK;
function headerOf(name, length) {
	const header = new Uint8Array(BLOCK);
	const put = (text, at) => header.set(encodeUtf8(text), at);
	put(name, 0);
	put("0000644\0", 100);
	put("0000000\0", 108);
	put("0000000\0", 116);
	put(`${length.toString(8).padStart(11, "0")}\0`, 124);
	put("00000000000\0", 136);
	put("        ", 148);
	put("0", 156);
	put("ustar\x0000", 257);
	put(`${header.reduce((total, byte) => total + byte, 0).toString(8).padStart(6, "0")}\0 `, 148);
	return header;
}
function readTar(bytes) {
	const files = [];
	const faults = [];
	let at = 0;
	while (at + BLOCK <= bytes.length) {
		const header = bytes.subarray(at, at + BLOCK);
		if (header.every((byte) => byte === 0)) break;
		const name = readField(header, 0, NAME_MAX$1) || placeAt(at);
		const digits = readField(header, 124, 11);
		const length = /^[0-7]{11}$/.test(digits) ? Number.parseInt(digits, 8) : Infinity;
		const end = at + BLOCK + length;
		if (end > bytes.length) {
			faults.push({
				name,
				message: "the header gives a length that the container does not have"
			});
			return {
				files,
				faults
			};
		}
		if (!equalBytes(header, headerOf(name, length))) faults.push({
			name,
			message: "the header is not the one that this name and length have"
		});
		const next = end + paddingOf(length);
		if (bytes.subarray(end, next).some((byte) => byte !== 0)) faults.push({
			name,
			message: "the padding after the file is not zero"
		});
		files.push({
			name,
			bytes: bytes.subarray(at + BLOCK, end)
		});
		at = next;
	}
	if (!equalBytes(bytes.subarray(at), END)) faults.push({
		name: placeAt(at),
		message: "the container does not end in two zero blocks"
	});
	return {
		files,
		faults
	};
}
const placeAt = (at) => `(byte ${at})`;
function readField(header, at, length) {
	const field = header.subarray(at, at + length);
	const end = field.indexOf(0);
	return String.fromCharCode(...end < 0 ? field : field.subarray(0, end));
}

// packages/ledger/src/bundle/evidence.ts
function readEvidence(bytes, options) {
	const container = readTar(bytes);
	const files = new Map(container.files.map((file) => [file.name, file.bytes]));
	const part = (name, rule) => readJson(files.get(name), {
		rule,
		canonical: options.thorough
	});
	const seal = files.get(FILES.seal);
	const sealFile = files.get(FILES.sealProof);
	const sealProof = sealFile && parseTlogProof(sealFile);
	const manifest = readJson(files.get(FILES.manifest), {
		rule: manifestRule,
		canonical: true
	});
	const { chains, ends, handovers } = partsOf(part(FILES.proof, PROOF_RULES.get(manifest?.format ?? "") ?? chainsRule));
	const entry = seal && readSealEntry(seal);
	const sealSigners = sealProof && sealSignersOf({
		policy: options.policy,
		seal: entry,
		handovers,
		note: sealProof.checkpoint
	});
	return {
		container,
		files,
		manifest,
		chains,
		ends,
		leaves: new Map((chains ?? []).map(({ origin, leaves }) => [origin, createListedLeaves(leaves)])),
		batches: part(FILES.batches, batchesRule),
		receipts: part(FILES.receipts, receiptsRule),
		erasureLists: part(FILES.erasureLists, erasureListsRule),
		payloads: readPayloads(files.get(FILES.payloads)),
		seal: entry,
		sealProof,
		sealSigners,
		sealNote: sealProof && openNote(encodeUtf8(sealProof.checkpoint), [...sealSigners?.known ?? [], ...options.policy.log.witnesses.values()]),
		...options
	};
}
function partsOf(proof) {
	if (proof === void 0) return {
		chains: void 0,
		ends: void 0,
		handovers: []
	};
	if (!("ends" in proof)) return {
		chains: proof,
		ends: void 0,
		handovers: []
	};
	const { chains, ends, handovers = [] } = proof;
	return {
		chains,
		ends: ends ?? void 0,
		handovers
	};
}
function readJson(bytes, { rule, canonical }) {
	const text = bytes && decodeUtf8(bytes);
	if (text === void 0) return void 0;
	let value;
	try {
		value = JSON.parse(text);
		if (canonical && canonicalJson(value) !== text) return void 0;
	} catch {
		return;
	}
	const problems = [];
	rule(value, problems);
	return problems.length === 0 ? value : void 0;
}
const PAYLOAD_FORM = {
	rule: payloadRule,
	canonical: true
};
function readPayloads(bytes) {
	if (bytes === void 0) return void 0;
	const payloads = [];
	let at = 0;
	while (at < bytes.length) {
		const end = bytes.indexOf(10, at);
		const payload = readJson(bytes.subarray(at, end), PAYLOAD_FORM);
		if (end < 0 || payload === void 0 || fromBase64(payload.salted) === void 0) return;
		payloads.push(payload);
		at = end + 1;
	}
	return payloads;
}

// packages/ledger/src/bundle/recognise.ts
const MAGIC = encodeUtf8("ustar");
const MAGIC_AT = 257;
const NAMES = Object.values(FILES).map((name) => encodeUtf8(`${name}\u0000`));
const FIRST = encodeUtf8(`${FILES.manifest}\u0000`);
function isBundleLike(bytes) {
	if (standsAt(bytes, FIRST, 0)) return true;
	for (let at = bytes.indexOf(MAGIC[0]); at >= 0;) {
		const start = at - MAGIC_AT;
		if (standsAt(bytes, MAGIC, at) && NAMES.some((name) => standsAt(bytes, name, start))) return true;
		at = bytes.indexOf(MAGIC[0], at + 1);
	}
	return false;
}
const standsAt = (bytes, part, at) => at >= 0 && part.every((byte, index) => bytes[at + index] === byte);

// packages/ledger/src/byte-reader.ts
const WORD = 4;
function literal(text) {
	const bytes = encodeUtf8(text);
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	const words = new Int32Array(Math.ceil(bytes.length / WORD));
	for (let at = 0; at < words.length; at += 1) words[at] = view.getInt32(Math.min(at * WORD, bytes.length - WORD), true);
	return {
		length: bytes.length,
		words
	};
}
const LETTERS = {
	h: "0123456789abcdef",
	d: "0123456789"
};
const membersOf$1 = (letter) => encodeUtf8(LETTERS[letter] ?? letter);
const PAIRS = /* @__PURE__ */ new Uint16Array(65536);
const bits = /* @__PURE__ */ new Map();
const KINDS_MAX = 16;
function bitOf(kind) {
	const known = bits.get(kind);
	if (known !== void 0) return known;
	if (bits.size === KINDS_MAX) throw new Error("the forms have more kinds of pairs than bits");
	const bit = 1 << bits.size;
	bits.set(kind, bit);
	for (const first of membersOf$1(kind.charAt(0))) for (const second of membersOf$1(kind.charAt(1))) {
		const pair = first + second * 256;
		PAIRS[pair] = PAIRS[pair] | bit;
	}
	return bit;
}
function form(places) {
	const { length } = places;
	const even = length % 2 === 0 ? places : `${places}"`;
	const kinds = Array.from({ length: even.length / 2 }, (_, at) => even.slice(at * 2, at * 2 + 2));
	return {
		length,
		pairs: Uint16Array.from(kinds, bitOf)
	};
}
const misfit = (pair, kind) => ~PAIRS[pair] & kind;
const QUOTE = 34;
const BACKSLASH = 92;
const SPACE = 32;
const TILDE = 126;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const NAME_MAX = 256;
const DIGITS_MAX = 15;
const isOfName = (byte) => byte !== void 0 && byte >= SPACE && byte <= TILDE && byte !== 34 && byte !== BACKSLASH;
const isDigit = (byte) => byte !== void 0 && byte >= ZERO && byte <= NINE;
var ByteReader = class {
	#bytes;
	#view;
	#text;
	#at = 0;
	#fits = true;
	constructor(bytes, text) {
		this.#bytes = bytes;
		this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
		this.#text = text;
	}
	start(from) {
		this.#at = from;
		this.#fits = true;
	}
	isThrough(end) {
		return this.#fits && this.#at === end;
	}
	fail() {
		this.#fits = false;
	}
	takes({ length, words }) {
		const view = this.#view;
		const from = this.#at;
		const last = words.length - 1;
		const end = from + length;
		if (end > view.byteLength) return false;
		let differing = view.getInt32(end - WORD, true) ^ words[last];
		for (let at = 0; at < last; at += 1) differing |= view.getInt32(from + at * WORD, true) ^ words[at];
		if (differing !== 0) return false;
		this.#at = end;
		return true;
	}
	skip(expected) {
		if (!this.takes(expected)) this.#fits = false;
	}
	takesByte(byte) {
		if (this.#bytes[this.#at] !== byte) return false;
		this.#at += 1;
		return true;
	}
	skipByte(byte) {
		if (!this.takesByte(byte)) this.#fits = false;
	}
	formed({ length, pairs }) {
		const view = this.#view;
		const from = this.#at;
		this.#at = from + length;
		if (from + pairs.length * 2 > view.byteLength) this.#fits = false;
		else {
			let misfits = 0;
			for (let at = 0; at < pairs.length; at += 1) misfits |= misfit(view.getUint16(from + at * 2, true), pairs[at]);
			if (misfits !== 0) this.#fits = false;
		}
		this.skipByte(34);
		return this.#text.slice(from, from + length);
	}
	name(last) {
		const bytes = this.#bytes;
		const from = this.#at;
		const { length } = last.text;
		let same = 0;
		while (same <= length && bytes[from + same] === bytes[last.from + same]) same += 1;
		if (length === 0 || same <= length) return this.#newName(last);
		this.#at = from + same;
		return last.text;
	}
	#newName(last) {
		const bytes = this.#bytes;
		const from = this.#at;
		let end = from;
		while (isOfName(bytes[end])) end += 1;
		this.#at = end;
		const hasEdge = bytes[from] === SPACE || bytes[end - 1] === SPACE;
		if (end === from || end > from + NAME_MAX || hasEdge) this.#fits = false;
		this.skipByte(34);
		if (!this.#fits) return "";
		last.from = from;
		last.text = this.#text.slice(from, end);
		return last.text;
	}
	count() {
		const bytes = this.#bytes;
		const from = this.#at;
		let end = from;
		let value = 0;
		while (isDigit(bytes[end])) {
			value = value * 10 + bytes[end] - ZERO;
			end += 1;
		}
		this.#at = end;
		const hasLeadingZero = bytes[from] === ZERO && end > from + 1;
		if (end === from || end > from + DIGITS_MAX || hasLeadingZero) this.#fits = false;
		return value;
	}
	integer() {
		if (!this.takesByte(MINUS)) return this.count();
		const value = this.count();
		if (value === 0) this.#fits = false;
		return -value;
	}
	part(pattern) {
		const from = this.#at;
		pattern.lastIndex = from;
		if (!this.#fits || !pattern.test(this.#text)) {
			this.#fits = false;
			return "null";
		}
		this.#at = pattern.lastIndex;
		return this.#text.slice(from, this.#at);
	}
};

// packages/ledger/src/record-reader.ts
const BEFORE = {
	attempt: literal("{\"attempt\":"),
	cost: literal(",\"cost\":"),
	completionTokens: literal("{\"completionTokens\":"),
	promptTokens: literal(",\"promptTokens\":"),
	remainingMicroUSD: literal(",\"remainingMicroUSD\":"),
	spentMicroUSD: literal(",\"spentMicroUSD\":"),
	epoch: literal(",\"epoch\":"),
	event: literal(",\"event\":\""),
	agentId: literal(",\"fromAgent\":{\"agentId\":\""),
	fromVersion: literal(",\"agentVersion\":\""),
	executionId: literal(",\"executionId\":\""),
	handoffId: literal("},\"handoffId\":\""),
	batchKey: literal(",\"keyIds\":{\"batch\":\""),
	wrapKey: literal(",\"wrap\":\""),
	origin: literal("},\"origin\":\""),
	parentHandoffId: literal(",\"parentHandoffId\":"),
	payload: literal(",\"payload\":["),
	previousRecordHash: literal(",\"previousRecordHash\":\""),
	previousTaskRecordHash: literal(",\"previousTaskRecordHash\":\""),
	reason: literal(",\"reason\":"),
	recordId: literal(",\"recordId\":\""),
	recordedAt: literal(",\"recordedAt\":\""),
	seq: literal(",\"seq\":"),
	taskId: literal(",\"taskId\":\""),
	taskSeq: literal(",\"taskSeq\":"),
	agentType: literal(",\"toAgent\":{\"agentType\":\""),
	toVersion: literal(",\"agentVersion\":"),
	traceparent: literal("},\"traceparent\":\""),
	verdicts: literal(",\"v\":1,\"verdicts\":")
};
const NULL = literal("null");
const SHA256 = form("h".repeat(64));
const UUID = form("hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh");
const TRACEPARENT = form(`hh-${"h".repeat(32)}-${"h".repeat(16)}-hh`);
const INSTANT = form("dddd-dd-ddTdd:dd:dd.ddddddZ");
const COUNT = "(?:0|[1-9][0-9]{0,14})";
const SMALL = "(?:0|[1-9][0-9]{0,5}|1000000)";
const HEX = (digits) => `[0-9a-f]{${digits}}`;
const ID = `"${HEX(8)}(?:-${HEX(4)}){3}-${HEX(12)}"`;
const INK = "[!#-[\\]-~]";
const NAME = `"${INK}(?:[ !#-[\\]-~]{0,254}${INK})?"`;
const OUTCOME = "\"(?:passed|failed|skipped)\"";
const REFERENCE = `\\{"bytes":${COUNT},"commitment":"${HEX(64)}","kind":"(?:${SEGMENT_KINDS.join("|")})","segment":${COUNT},"subjectRef":${ID}(?:,"zstdBytes":${COUNT})?\\}`;
const REFERENCES = new RegExp(`${REFERENCE}(?:,${REFERENCE}){0,255}`, "y");
const VERDICTS = new RegExp(`\\{"budget":${OUTCOME},"completeness":${OUTCOME},"safety":\\{"artefactId":(?:null|${NAME}),"decision":"(?:allow|flag|reject|skipped)","findings":${SMALL}\\},"schema":${OUTCOME},"signature":${OUTCOME},"size":${OUTCOME}\\}`, "y");
const REASON = /"[A-Z][A-Z0-9_]{0,63}"/y;
const ATTEMPT_MAX = 1e6;
const unread = () => ({
	from: 0,
	text: ""
});
var RecordReader = class {
	#next;
	#event = unread();
	#agentId = unread();
	#fromVersion = unread();
	#executionId = unread();
	#batchKey = unread();
	#wrapKey = unread();
	#origin = unread();
	#agentType = unread();
	#toVersion = unread();
	#lastTask = "";
	constructor(bytes, text) {
		this.#next = new ByteReader(bytes, text);
	}
	read(from, end) {
		this.#next.start(from);
		const body = this.#record();
		return this.#next.isThrough(end) ? body : void 0;
	}
	#record() {
		return {
			attempt: this.#attempt(),
			cost: this.#cost(),
			epoch: this.#count(BEFORE.epoch),
			event: this.#auditEvent(),
			fromAgent: {
				agentId: this.#name(BEFORE.agentId, this.#agentId),
				agentVersion: this.#name(BEFORE.fromVersion, this.#fromVersion),
				executionId: this.#name(BEFORE.executionId, this.#executionId)
			},
			handoffId: this.#formed(BEFORE.handoffId, UUID),
			keyIds: this.#keyIds(),
			origin: this.#name(BEFORE.origin, this.#origin),
			parentHandoffId: this.#parent(),
			payload: this.#payload(),
			previousRecordHash: this.#formed(BEFORE.previousRecordHash, SHA256),
			previousTaskRecordHash: this.#formed(BEFORE.previousTaskRecordHash, SHA256),
			reason: this.#valueOrNull(BEFORE.reason, REASON),
			recordId: this.#formed(BEFORE.recordId, UUID),
			recordedAt: this.#recordedAt(),
			seq: this.#count(BEFORE.seq),
			taskId: this.#taskId(),
			taskSeq: this.#count(BEFORE.taskSeq),
			toAgent: this.#toAgent(),
			traceparent: this.#formed(BEFORE.traceparent, TRACEPARENT),
			v: 1,
			verdicts: this.#verdicts()
		};
	}
	#count(before) {
		this.#next.skip(before);
		return this.#next.count();
	}
	#name(before, last) {
		this.#next.skip(before);
		return this.#next.name(last);
	}
	#formed(before, form) {
		this.#next.skip(before);
		return this.#next.formed(form);
	}
	#isNull(before) {
		this.#next.skip(before);
		return this.#next.takes(NULL);
	}
	#valueOrNull(before, pattern) {
		return this.#isNull(before) ? null : JSON.parse(this.#next.part(pattern));
	}
	#attempt() {
		const attempt = this.#count(BEFORE.attempt);
		if (attempt > ATTEMPT_MAX) this.#next.fail();
		return attempt;
	}
	#cost() {
		if (this.#isNull(BEFORE.cost)) return null;
		const completionTokens = this.#count(BEFORE.completionTokens);
		const promptTokens = this.#count(BEFORE.promptTokens);
		this.#next.skip(BEFORE.remainingMicroUSD);
		const remainingMicroUSD = this.#next.integer();
		const spentMicroUSD = this.#count(BEFORE.spentMicroUSD);
		this.#next.skipByte(125);
		return {
			completionTokens,
			promptTokens,
			remainingMicroUSD,
			spentMicroUSD
		};
	}
	#auditEvent() {
		const event = this.#name(BEFORE.event, this.#event);
		if (!isAuditEvent(event)) this.#next.fail();
		return event;
	}
	#keyIds() {
		return {
			batch: this.#name(BEFORE.batchKey, this.#batchKey),
			wrap: this.#name(BEFORE.wrapKey, this.#wrapKey)
		};
	}
	#parent() {
		if (this.#isNull(BEFORE.parentHandoffId)) return null;
		this.#next.skipByte(34);
		return this.#next.formed(UUID);
	}
	#payload() {
		const next = this.#next;
		next.skip(BEFORE.payload);
		if (next.takesByte(93)) return [];
		const references = JSON.parse(`[${next.part(REFERENCES)}]`);
		next.skipByte(93);
		return references;
	}
	#recordedAt() {
		const recordedAt = this.#formed(BEFORE.recordedAt, INSTANT);
		if (microsOfForm(recordedAt) === void 0) this.#next.fail();
		return recordedAt;
	}
	#taskId() {
		const taskId = this.#formed(BEFORE.taskId, UUID);
		if (taskId !== this.#lastTask) this.#lastTask = taskId;
		return this.#lastTask;
	}
	#toAgent() {
		const agentType = this.#name(BEFORE.agentType, this.#agentType);
		if (this.#isNull(BEFORE.toVersion)) return {
			agentType,
			agentVersion: null
		};
		this.#next.skipByte(34);
		return {
			agentType,
			agentVersion: this.#next.name(this.#toVersion)
		};
	}
	#verdicts() {
		const verdicts = this.#valueOrNull(BEFORE.verdicts, VERDICTS);
		this.#next.skipByte(125);
		return verdicts;
	}
};

// packages/ledger/src/bundle/records.ts
const LINE_FEED = 10;
const CHUNK_BYTES = 1 << 20;
function visitRecords(file, bytes, visit) {
	let from = 0;
	let line = 0;
	while (from < bytes.length) {
		const last = bytes.lastIndexOf(LINE_FEED, from + CHUNK_BYTES);
		const end = last >= from ? last : bytes.indexOf(LINE_FEED, from);
		const chunk = bytes.subarray(from, (end < 0 ? bytes.length : end) + 1);
		line = visitChunk(chunk, {
			file,
			line
		}, visit);
		from += chunk.length;
	}
}
function visitChunk(chunk, at, visit) {
	const text = decodeUtf8(chunk);
	const ascii = text?.length === chunk.length ? text : void 0;
	const reader = ascii === void 0 ? void 0 : new RecordReader(chunk, ascii);
	const prefixed = new Uint8Array(chunk.length + 1);
	prefixed.set(chunk, 1);
	let { line } = at;
	let from = 0;
	while (from < chunk.length) {
		const found = ascii === void 0 ? chunk.indexOf(LINE_FEED, from) : ascii.indexOf("\n", from);
		const end = found < 0 ? chunk.length : found;
		prefixed[from] = 0;
		const hashHex = sha256Hex(prefixed.subarray(from, end + 1));
		line += 1;
		const body = reader?.read(from, end);
		const record = {
			file: at.file,
			line,
			hashHex,
			body,
			isPlain: true,
			text: void 0
		};
		visit(body === void 0 ? readAny(record, chunk.subarray(from, end)) : record);
		from = end + 1;
	}
	return line;
}
function readAny(record, bytes) {
	const text = decodeUtf8(bytes);
	return {
		...record,
		body: readBody(text),
		isPlain: false,
		text
	};
}
function readBody(text) {
	if (text === void 0) return void 0;
	try {
		const value = JSON.parse(text);
		return isPlaced(value) ? value : void 0;
	} catch {
		return;
	}
}
function isPlaced(value) {
	if (typeof value !== "object" || value === null) return false;
	const body = value;
	return body.v === 1 && typeof body.origin === "string" && Number.isSafeInteger(body.seq) && typeof body.taskId === "string" && Number.isSafeInteger(body.taskSeq) && typeof body.previousRecordHash === "string" && typeof body.previousTaskRecordHash === "string" && typeof body.recordedAt === "string" && typeof body.event === "string" && typeof body.handoffId === "string" && typeof membersOf(body.keyIds)["batch"] === "string" && Array.isArray(body.payload) && body.payload.every(isReference) && (body.erasure === void 0 || typeof membersOf(body.erasure)["subjectRef"] === "string");
}
const NO_MEMBERS = {};
const membersOf = (value) => typeof value === "object" && value !== null ? value : NO_MEMBERS;
function isReference(value) {
	const { segment, subjectRef, commitment, bytes } = membersOf(value);
	return typeof subjectRef === "string" && typeof commitment === "string" && Number.isSafeInteger(segment) && Number.isSafeInteger(bytes);
}

// packages/ledger/src/bundle/report.ts
const FINDINGS_MAX = 100;
function createCheckLog(id, title) {
	const findings = [];
	let result = "ok";
	let note = null;
	function add({ file = null, origin = null, seq = null }, message) {
		if (findings.length >= FINDINGS_MAX) return;
		findings.push({
			rule: id,
			file,
			origin,
			seq,
			message
		});
	}
	return {
		fail(place, message) {
			result = "failed";
			add(place, message);
		},
		lack(place, message) {
			if (result !== "failed") result = "incomplete";
			add(place, message);
		},
		skip(why) {
			if (result === "ok") result = "skipped";
			note = why;
		},
		note(text) {
			note = text;
		},
		report: () => ({
			id,
			title,
			result,
			note,
			findings
		})
	};
}

// packages/ledger/src/bundle/verify.ts
const verifyBundle = (bytes, options) => verifyWith(CHECKS, bytes, options);
function verifyWith(table, bytes, options) {
	const evidence = readEvidence(bytes, options);
	const segments = [];
	const found = {
		until: null,
		later: [],
		absent: []
	};
	const running = Object.entries(table).map(([id, check]) => {
		const log = createCheckLog(id, CHECK_TITLES[id]);
		return {
			log,
			visitor: check({
				evidence,
				log,
				segments,
				end: found
			})
		};
	});
	const visits = running.flatMap(({ visitor }) => visitor.record ?? []);
	let records = 0;
	for (const name of [FILES.records, FILES.erasures]) visitRecords(name, evidence.files.get(name) ?? /* @__PURE__ */ new Uint8Array(0), (record) => {
		records += Number(name === FILES.records);
		for (const visit of visits) visit(record);
	});
	for (const { visitor } of running) visitor.end?.();
	const checks = running.map(({ log }) => log.report());
	const { manifest, seal } = evidence;
	const verdict = isBundleLike(bytes) ? verdictOf(checks) : "not-a-bundle";
	const end = provenEnd(found, checks);
	return {
		verdict,
		taskId: manifest?.taskId ?? null,
		records,
		sealedAt: seal?.at ?? null,
		checks,
		end,
		notExcluded: notExcluded({
			verdict,
			checks,
			end,
			heir: evidence.sealSigners?.open
		}),
		segments
	};
}
function provenEnd({ until, later, absent }, checks) {
	const isDoubted = checks.some(({ id, result }) => result === "failed" || result === "incomplete" && UNDER_THE_SEAL.has(id));
	return until === null || isDoubted ? null : {
		until,
		later,
		absent
	};
}
const UNDER_THE_SEAL = /* @__PURE__ */ new Set(["WITNESS_QUORUM", "SEAL_TIME"]);
function verdictOf(checks) {
	const results = new Map(checks.map(({ id, result }) => [id, result]));
	if (results.get("CONTAINER") !== "failed" && results.get("MANIFEST_DIGEST") !== "failed" && results.get("VERSION") === "failed") return "unsupported";
	if (checks.some(({ result }) => result === "failed")) return "tampered";
	if (results.get("SEAL_TIME") === "incomplete") return "clock";
	return checks.some(({ result }) => result === "incomplete") ? "incomplete" : "valid";
}

// packages/ledger/verifier/baton-verify.ts
const USAGE = `usage: node baton-verify.mjs BUNDLE --policy FILE [--json] [--fast]
  BUNDLE   a baton-evidence/1, /2 or /3 file
  --policy your own trust policy (C2SP tlog-policy); nothing in the bundle is trusted instead
  --json   the whole report as JSON
  --fast   without the check of every record's full form
ends with 0 valid, 1 failure, 2 usage or no bundle, 3 tampered, 4 incomplete, of a wrong clock or of an unknown version\n`;
const OPTIONS = {
	policy: { type: "string" },
	json: {
		type: "boolean",
		default: false
	},
	fast: {
		type: "boolean",
		default: false
	}
};
function readArguments() {
	try {
		const { values, positionals } = parseArgs({
			options: OPTIONS,
			allowPositionals: true
		});
		const [bundle, ...rest] = positionals;
		if (bundle === void 0 || rest.length > 0 || values.policy === void 0) return void 0;
		return {
			...values,
			bundle,
			policy: values.policy
		};
	} catch {
		return;
	}
}
function read(path) {
	try {
		return readFileSync(path);
	} catch (error) {
		process.stderr.write(`cannot read ${path}: ${error instanceof Error ? error.message : ""}\n`);
		return;
	}
}
function main() {
	const given = readArguments();
	if (given === void 0) {
		process.stderr.write(USAGE);
		return 2;
	}
	const [bundle, policyFile] = [read(given.bundle), read(given.policy)];
	if (bundle === void 0 || policyFile === void 0) return 1;
	const parsed = parseAuditorPolicy(policyFile);
	if (!parsed.ok) {
		process.stderr.write(`${given.policy}, line ${parsed.line}: ${parsed.message}\n`);
		return 2;
	}
	const now = Math.floor(Date.now() / 1e3);
	const options = {
		policy: parsed.policy,
		now,
		thorough: !given.fast
	};
	const report = verifyBundle(bundle, options);
	process.stdout.write(given.json ? `${JSON.stringify(report)}\n` : formatReport(report));
	return EXIT_CODES[report.verdict];
}
process.exitCode = main();

export {  };