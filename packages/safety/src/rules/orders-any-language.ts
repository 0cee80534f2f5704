// What is ordered after an override, in languages other than English.

/**
 * Words in which an agent is told what to do, or asked for what it keeps: tell, show, answer, write, translate, you are now, from now on,
 * instead, can you, secret, password, send. Alone they are ordinary; they count behind a verb that sets orders aside.
 */
export const ORDERS_ANY_LANGUAGE: readonly string[] = [
  // Romance.
  String.raw`\b(?:dime|dame|muestra|muestrame|revela|responde|imprime|escribe|traduce|traducir|ahora eres|en su lugar|puedes|clave secreta|contrasena|donde vive|transfiere|envia)\b`,
  String.raw`\b(?:diga|mostre|revele|responda|imprima|escreva|traduza|agora voce|a partir de agora|em vez disso|voce pode|chave secreta|senha|transfira|envie)\b`,
  String.raw`\b(?:dis-moi|dites-moi|donne-moi|montre|revele|reponds|repondez|affiche|ecris|ecrivez|tradui[st]|tu es|vous etes|desormais|a la place|pouvez-vous|peux-tu|cle secrete|mot de passe|envoie|envoyez)\b`,
  String.raw`\b(?:dimmi|dammi|mostra|rivela|rispondi|scrivi|traduci|ora sei|d'ora in poi|invece|puoi|potete|chiave segreta|trasferisci|invia)\b`,
  String.raw`\b(?:spune-mi|arata-mi|dezvaluie|raspunde|scrie|traduce|acum esti|de acum|in schimb|cheia secreta|parola|trimite|digues|mostra'm|respon|escriu|tradueix|ara ets|clau secreta|contrasenya|envia)\b`,
  // Germanic and northern.
  String.raw`\b(?:sage? mir|gib|zeige?|verrate|antworte|drucke|schreibe?|ubersetze|du bist (?:jetzt|nun)|ab jetzt|stattdessen|kannst du|konnen sie|geheim\w*|passwort|uberweise|sende|schicke?)\b`,
  String.raw`\b(?:vertel|geef|onthul|antwoord|schrijf|vertaal|je bent nu|vanaf nu|in plaats daarvan|kun je|geheime|wachtwoord|stuur)\b`,
  String.raw`\b(?:beratta|ge mig|avsloja|svara|skriv|oversatt|du ar nu|istallet|kan du|losenord\w*|skicka|giv mig|vis mig|svar|oversa?et|du er (?:nu|na)|i stedet|adgangskode|passord\w*|kerro|nayta|vastaa|kirjoita|kaanna|olet nyt|sen sijaan|voitko|salasana|laheta)\b`,
  // Slavic, Greek and Hungarian.
  String.raw`\b(?:powiedz|podaj|pokaz|ujawnij|odpowiedz|napisz|od teraz|zamiast tego|czy mozesz|wyslij|rekni|ukaz|odhal|odpovez|napis|preloz|nyni jsi|misto toho|muzes|heslo|posli|povedz|odpovedz|namiesto toho|mozes|reci|pokazi|otkrij|odgovori|napisi|prevedi|sada si|umjesto toga|mozes li|lozinka|posalji)\b`,
  `скажи|покажи|раскрои|ответь|отвечаи|выведи|напиши|переведи|теперь ты|ты теперь|отныне|вместо этого|можешь|можете|секретн|пароль|где живет|отправь|даи|розкрии|відповід|переклади|тепер ти|ти тепер|замість|чи можеш|надішли|кажи|отговори|сега си|вместо това|можеш ли|парола|изпрати`,
  `πες μου|δειξε|αποκαλυψε|απαντησε|γραψε|μεταφρασε|τωρα εισαι|αντι αυτου|μπορεις|κωδικο|στειλε`,
  String.raw`\b(?:mondd|mutasd|valaszolj|irj|irja|fordits|mostantol|helyette|tudnal|jelszo\w*|titkos|kuld\w*)\b`,
  // Turkish and the languages of South-East Asia and Africa in Latin letters.
  String.raw`\b(?:soyle|goster|acikla|yanitla|cevap ver|cevir|artik|bundan sonra|bunun yerine|gizli anahtar\w*|sifre\w*|parola\w*|gonder|aktar)\b`,
  String.raw`\b(?:katakan|beri(?:kan)?|tampilkan|ungkap\w*|jawab\w*|tulis\w*|terjemahkan|sekarang (?:anda|kamu)|mulai sekarang|sebagai gantinya|bisakah|kunci rahasia|kata sandi|kirim\w*|sabihin|ibigay|ipakita|sagutin|isulat|isalin|ikaw ay|sa halip|maaari (?:ka|mo)|lihim|ipadala|onyesha|jibu|andika|tafsiri|sasa wewe|badala yake|unaweza|nenosiri)\b`,
  String.raw`noi cho|cho toi|hien thi|tiet lo|tra loi|viet |bay gio|thay vao|ban co the|bi mat|mat khau`,
  // Semitic and Persian.
  `أخبرني|أعطني|اعرض|اكشف|أجب|اكتب|ترجم|أنت الآن|من الآن|بدلا|بدلاً|هل يمكنك|السري|كلمة المرور|أين|أرسل|بگو|نشان بده|پاسخ|بنویس|ترجمه|اکنون|به جای|میتوانی|رمز عبور|بفرست|אמור|ספר לי|תן לי|הצג|גלה|ענה|כתוב|תרגם|מעכשיו|במקום|האם|סיסמה|שלח`,
  // Indic.
  `बताओ|बताएं|बताएँ|दिखा|दें|लिखो|लिखें|अनुवाद|अब आप|अब से|इसके बजाय|क्या आप|गुप्त|पासवर्ड|कहाँ|कहां|भेज|सांगा|दाखव|लिहा|पाठव|বলুন|বলো|দেখান|দিন|দাও|লিখুন|অনুবাদ|আপনি এখন|এখন থেকে|পরিবর্তে|আপনি কি|গোপন|পাসওয়ার্ড|কোথায়|পাঠান|بتائیں|دکھائیں|لکھیں|ترجمہ|اب آپ|کے بجائے|خفیہ|پاس ورڈ|بھیج|சொல்|காட்டு|எழுது|மொழிபெயர்|இப்போது நீ|பதிலாக|கடவுச்சொல்|அனுப்பு|చెప్పు|చూపించు|రాయి|అనువదించు|బదులుగా|పాస్‌వర్డ్|పంపు`,
  // East Asian and Thai.
  `告诉我|告訴我|显示|顯示|透露|输出|輸出|回答|回复|写|翻译|翻譯|你现在是|你現在是|从现在|從現在|改为|能否|你能|密钥|密鑰|密码|密碼|哪里|发送|發送|转账|教えて|表示|明かし|出力|答え|書いて|翻訳|今から|これから|代わりに|できますか|秘密|パスワード|どこ|送って|送信|알려|보여|공개|출력|대답|답해|번역|이제|지금부터|대신|수 있|비밀|어디|보내|송금|บอก|แสดง|เปิดเผย|ตอบ|เขียน|แปล|คุณคือ|ต่อจากนี้|แทน|สามารถ|รหัส|ความลับ|ที่ไหน`,
]
