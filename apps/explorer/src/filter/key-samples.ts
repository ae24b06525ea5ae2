/** Lists of keys to add. */
export const KEY_SAMPLES = {
  fruit: {
    title: '12 fruits',
    keys: (): string[] => ['apple', 'apricot', 'banana', 'blackberry', 'cherry', 'fig', 'grape', 'kiwi', 'lemon', 'mango', 'orange', 'plum'],
  },
  cities: {
    title: '60 cities',
    keys: (): string[] =>
      (
        'Accra Amman Ankara Athens Baku Bamako Beijing Beirut Berlin Bogota Brasilia Bucharest Budapest Cairo Canberra ' +
        'Caracas Chisinau Copenhagen Dakar Damascus Delhi Dhaka Doha Dublin Hanoi Harare Havana Helsinki Islamabad ' +
        'Jakarta Kabul Kampala Kathmandu Khartoum Kigali Kyiv Lagos Lima Lisbon Ljubljana London Luanda Lusaka Madrid ' +
        'Manila Maputo Mexico Minsk Montevideo Muscat Nairobi Oslo Ottawa Paris Prague Quito Rabat Riga Rome Tokyo'
      ).split(' '),
  },
  orders: {
    title: '1,000 order numbers',
    keys: (): string[] => Array.from({ length: 1000 }, (_, i) => `order-${String(i * 7 + 1).padStart(5, '0')}`),
  },
} as const;

/** Keys that are tried to find a false positive. None of them is in a sample. */
export function* strangers(): Generator<string, void, undefined> {
  yield* [
    'pear', 'peach', 'melon', 'papaya', 'quince', 'lychee', 'guava', 'date', 'olive', 'raspberry', 'currant', 'elderberry',
    'grapefruit', 'lime', 'mandarin', 'nectarine', 'passion fruit', 'pineapple', 'pomegranate', 'strawberry', 'tangerine',
    'watermelon', 'mulberry', 'persimmon', 'cranberry', 'gooseberry', 'tamarind', 'coconut', 'durian', 'jackfruit',
  ];
  for (let i = 1; i < 20_000; i++) yield `stranger ${i}`;
}
