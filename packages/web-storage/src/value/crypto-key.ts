/**
 * A `CryptoKey` as Blink stores it.
 *
 *     kind (u8)         1 AES: algorithm, length in bytes · 2 HMAC: length in bytes, hash · 4 RSA: algorithm, type, bits of the modulus,
 *                       length of the exponent, exponent, hash · 5 EC: algorithm, type, curve · 6 without parameters: algorithm ·
 *                       7 Ed25519 and X25519: algorithm, type
 *     usages            bits, of which the lowest says whether it is extractable
 *     length, key       raw, PKCS #8 or SubjectPublicKeyInfo
 *
 * All numbers are varints.
 *
 * Source: Chromium, third_party/blink/renderer/bindings/modules/v8/serialization/web_crypto_sub_tags.h.
 */
import type { ByteReader } from './byte-reader.js';

const ALGORITHMS: Readonly<Record<number, string>> = {
  1: 'AES-CBC', 2: 'HMAC', 3: 'RSASSA-PKCS1-v1_5', 5: 'SHA-1', 6: 'SHA-256', 7: 'SHA-384', 8: 'SHA-512', 9: 'AES-GCM', 10: 'RSA-OAEP',
  11: 'AES-CTR', 12: 'AES-KW', 13: 'RSA-PSS', 14: 'ECDSA', 15: 'ECDH', 16: 'HKDF', 17: 'PBKDF2', 18: 'Ed25519', 19: 'X25519',
};
const CURVES: Readonly<Record<number, string>> = { 1: 'P-256', 2: 'P-384', 3: 'P-521' };
const TYPES: Readonly<Record<number, string>> = { 1: 'public', 2: 'private' };
const USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'wrapKey', 'unwrapKey', 'deriveBits'];

/** Reads a key after its tag. @returns its fields under the names of the Web Crypto API, and `keyData`. */
export function readCryptoKey(reader: ByteReader): Record<string, unknown> {
  const algorithm: Record<string, unknown> = {};
  let type = 'secret';
  const named = (names: Readonly<Record<number, string>>, what: string): string => {
    const number = reader.varint32();
    const name = names[number];
    if (name === undefined) throw reader.bad(`unknown ${what} ${number} of a CryptoKey`);
    return name;
  };
  const kind = reader.byte();
  switch (kind) {
    case 1:
      algorithm.name = named(ALGORITHMS, 'algorithm');
      algorithm.length = reader.varint32() * 8;
      break;
    case 2:
      algorithm.name = 'HMAC';
      algorithm.length = reader.varint32() * 8;
      algorithm.hash = { name: named(ALGORITHMS, 'hash') };
      break;
    case 4:
      algorithm.name = named(ALGORITHMS, 'algorithm');
      type = named(TYPES, 'type');
      algorithm.modulusLength = reader.varint32();
      algorithm.publicExponent = reader.take(reader.varint32()).slice();
      algorithm.hash = { name: named(ALGORITHMS, 'hash') };
      break;
    case 5:
      algorithm.name = named(ALGORITHMS, 'algorithm');
      type = named(TYPES, 'type');
      algorithm.namedCurve = named(CURVES, 'curve');
      break;
    case 6:
      algorithm.name = named(ALGORITHMS, 'algorithm');
      break;
    case 7:
      algorithm.name = named(ALGORITHMS, 'algorithm');
      type = named(TYPES, 'type');
      break;
    default:
      throw reader.bad(`unknown kind ${kind} of a CryptoKey`, reader.position - 1);
  }
  const bits = reader.varint32();
  return {
    type,
    extractable: (bits & 1) === 1,
    algorithm,
    usages: USAGES.filter((_, i) => (bits & (2 << i)) !== 0),
    keyData: reader.take(reader.varint32()).slice(),
  };
}
